"""A file of each programming language, and the units that it has: symbol, first line, last line.

Each has a documented function, a type with a member, two equal functions and a Korean comment.
"""

from __future__ import annotations

from typing import NamedTuple


class Sample(NamedTuple):
    ending: str
    code_lang: str
    text: str
    units: tuple[tuple[str, int, int], ...]


SAMPLES = (
    Sample(
        ".py",
        "python",
        '''\
"""A module."""
import os
from a import b

LIMIT = 3


# 밧줄을 말린다
@cached
def dry_rope(rope):
    """Dry a rope."""
    return rope


@final
class Ship(Base):
    """A ship."""

    sails = 3

    @property
    async def speed(self):
        return 1

    def twin(self):
        return 2


def twin(self):
        return 2


if LIMIT:
    def late():
        pass
''',
        (
            ("dry_rope", 8, 12),
            ("Ship", 15, 19),
            ("Ship.speed", 21, 23),
            ("Ship.twin", 25, 26),
            ("twin", 29, 30),
            ("late", 34, 35),
        ),
    ),
    Sample(
        ".js",
        "javascript",
        """\
import a from 'b';

/**
 * 밧줄을 말린다
 */
export function dryRope(rope) {
  return rope;
}

export default class Ship extends Base {
  sails = 3;

  // how fast
  get speed() {
    return 1;
  }
}

const twin = () => {
  return 2;
};

Ship.prototype.twin = function () {
  return 2;
};
""",
        (
            ("dryRope", 3, 8),
            ("Ship", 10, 11),
            ("Ship.speed", 13, 17),
            ("twin", 19, 21),
            ("Ship.twin", 23, 25),
        ),
    ),
    Sample(
        ".ts",
        "typescript",
        """\
import { a } from './a';

/** 밧줄 */
export interface Rope {
  dry(): void;
}

export abstract class Ship<T> {
  private sails = 3;

  @Logged()
  speed(): number {
    return 1;
  }
}

export const twin = async (a: string) => {
  return 2;
};

namespace Harbour {
  export function twin() {
    return 2;
  }
}

export type Name = string;
""",
        (
            ("Rope", 3, 6),
            ("Ship", 8, 9),
            ("Ship.speed", 11, 15),
            ("twin", 17, 19),
            ("Harbour.twin", 21, 25),
            ("Name", 27, 27),
        ),
    ),
    Sample(
        ".tsx",
        "typescript",
        """\
import React from 'react';

// 밧줄
export const Rope: FC = () => {
  return <div>dry</div>;
};

export function Ship(props: Props) {
  return <Rope />;
}
""",
        (("Rope", 3, 6), ("Ship", 8, 10)),
    ),
    Sample(
        ".go",
        "go",
        """\
package harbour

import "fmt"

// DryRope dries. 밧줄
func DryRope(r Rope) error {
	return nil
}

// Ship floats.
type Ship struct {
	sails int
}

func (s *Ship[T]) Speed() int {
	return 1
}

func twin() int {
	return 2
}

func (s Ship) twin() int {
	return 2
}
""",
        (
            ("DryRope", 5, 8),
            ("Ship", 10, 13),
            ("Ship.Speed", 15, 17),
            ("twin", 19, 21),
            ("Ship.twin", 23, 25),
        ),
    ),
    Sample(
        ".rs",
        "rust",
        """\
use a::b;

/// 밧줄을 말린다
#[inline]
pub fn dry_rope(rope: Rope) -> Rope {
    rope
}

#[derive(Debug)]
pub struct Ship<T> {
    sails: T,
}

impl<T> Float for Ship<T> {
    /// How fast.
    fn speed(&self) -> u8 {
        1
    }
}

cfg_harbour! {
    fn twin() -> u8 {
        2
    }
}

mod inner {
    fn twin() -> u8 {
        2
    }
}
""",
        (
            ("dry_rope", 3, 7),
            ("Ship", 9, 12),
            ("Ship.speed", 14, 19),
            ("twin", 22, 25),
            ("inner.twin", 27, 31),
        ),
    ),
    Sample(
        ".java",
        "java",
        """\
package harbour;

import java.util.List;

/** 배 */
@Floats
public class Ship<T> {
    int sails = 3;

    /** How fast. */
    @Override
    public int speed() {
        return 1;
    }

    int twin() {
        return 2;
    }

    static class Boat {
        int twin() {
            return 2;
        }
    }
}
""",
        (
            ("Ship", 5, 8),
            ("Ship.speed", 10, 14),
            ("Ship.twin", 16, 18),
            ("Ship.Boat", 20, 20),
            ("Ship.Boat.twin", 21, 25),
        ),
    ),
    Sample(
        ".kt",
        "kotlin",
        """\
package harbour

import a.b

/** 밧줄 */
fun Rope.dry(): Rope {
    return this
}

class Ship(val sails: Int) : Base() {
    val mast = 1

    // how fast
    fun speed(): Int {
        return 1
    }

    companion object {
        fun twin() = 2
    }
}

fun twin() = 2
""",
        (
            ("Rope.dry", 5, 8),
            ("Ship", 10, 11),
            ("Ship.speed", 13, 16),
            ("Ship.Companion.twin", 18, 21),
            ("twin", 23, 23),
        ),
    ),
    Sample(
        ".c",
        "c",
        """\
#include <rope.h>

#define LIMIT 3

/* 밧줄을 말린다
   slowly */
static struct rope *dry_rope(struct rope *r)
{
	return r;
}

typedef struct {
	int sails;
} ship_t;

struct mast {
	int height;
};

/* How fast. */
int speed(ship_t *s);

int bare(void);

#ifdef TWINS
int twin(void)
{
	return 2;
}
#else
int twin(void)
{
	return 2;
}
#endif
""",
        (
            ("dry_rope", 5, 10),
            ("ship_t", 12, 14),
            ("mast", 16, 18),
            ("speed", 20, 21),
            ("twin", 26, 29),
            ("twin", 31, 34),
        ),
    ),
    Sample(
        ".cpp",
        "cpp",
        """\
#include <rope>

namespace harbour {

// 배
template <class T>
class Ship : public Base {
 public:
  int sails = 3;

  // How fast.
  int speed() const { return 1; }

  bool operator==(const Ship &other) const {
    return true;
  }
};

}  // namespace harbour

int harbour::Ship<int>::twin() {
  return 2;
}

int twin() {
  return 2;
}
""",
        (
            ("harbour.Ship", 3, 9),
            ("harbour.Ship.speed", 11, 12),
            ("harbour.Ship.operator==", 14, 19),
            ("harbour.Ship.twin", 21, 23),
            ("twin", 25, 27),
        ),
    ),
    Sample(
        ".cs",
        "csharp",
        """\
using System;

namespace Harbour.Ships
{
    /// <summary>배</summary>
    [Floats]
    public class Ship<T>
    {
        int sails = 3;

        // How fast.
        public int Speed()
        {
            return 1;
        }

        int Twin() => 2;

        class Boat
        {
            int Twin() => 2;
        }
    }
}
""",
        (
            ("Harbour.Ships.Ship", 3, 9),
            ("Harbour.Ships.Ship.Speed", 11, 15),
            ("Harbour.Ships.Ship.Twin", 17, 17),
            ("Harbour.Ships.Ship.Boat", 19, 20),
            ("Harbour.Ships.Ship.Boat.Twin", 21, 24),
        ),
    ),
    Sample(
        ".rb",
        "ruby",
        """\
require 'rope'

# 밧줄을 말린다
def dry_rope(rope)
  rope
end

module Harbour
  class Ship < Base
    attr_reader :sails

    # How fast.
    def speed
      1
    end

    def self.twin
      2
    end
  end
end

def twin
  2
end
""",
        (
            ("dry_rope", 3, 6),
            ("Harbour.Ship", 8, 10),
            ("Harbour.Ship.speed", 12, 15),
            ("Harbour.Ship.twin", 17, 21),
            ("twin", 23, 25),
        ),
    ),
    Sample(
        ".sh",
        "shell",
        """\
#!/bin/sh
set -e

# 밧줄을 말린다
dry_rope() {
  echo dry
}

function twin {
  echo 2
}

if true; then
  twin() {
    echo 2
  }
fi
""",
        (("dry_rope", 4, 7), ("twin", 9, 11), ("twin", 14, 17)),
    ),
    Sample(
        ".sql",
        "sql",
        """\
SET search_path = harbour;

-- 배
CREATE TABLE harbour.ships (
  id int,
  sails int
);

CREATE VIEW fast AS SELECT * FROM ships;

CREATE INDEX ships_by_sails ON ships (sails);

INSERT INTO ships VALUES (1, 3);
""",
        (("harbour.ships", 3, 7), ("fast", 9, 9), ("ships_by_sails", 11, 11)),
    ),
)

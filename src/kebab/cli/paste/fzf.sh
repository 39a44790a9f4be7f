# kf: search while you type, then open the hit in $EDITOR at its line (vi, vim, nvim, emacs, nano, micro).
kf() {
  local hit
  hit=$(fzf --disabled --query "$*" --delimiter : --with-nth 1,2,3.. \
    --bind "start:reload:kebab search --lines -k 50 --quiet -- {q} || true" \
    --bind "change:reload:sleep 0.1; kebab search --lines -k 50 --quiet -- {q} || true" \
    --preview "sed -n '{2},\$p' {1} | head -60") || return
  "${EDITOR:-vi}" "+$(printf %s "$hit" | cut -d: -f2)" "$(printf %s "$hit" | cut -d: -f1)"
}

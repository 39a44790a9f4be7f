"""How good is it? Golden queries, standard collections, comparison and tuning."""

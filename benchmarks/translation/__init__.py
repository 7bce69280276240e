"""A phrase-based translator, trained on lattices (Wang and Shawe-Taylor 2009, 5.2).

From two text files to translations, each step in a file of its own:

1. `bitext` reads the pairs of sentences, `vocabulary` numbers their words.
2. `word_alignment` finds which word translates which (IBM model 1, then a hidden Markov
   model), once in each direction; `symmetrise` makes one alignment of the two.
3. `extraction` takes the phrases and their orientations from it, `phrase_table` counts
   and scores them; `language_model` is a trigram model with Kneser-Ney smoothing.
4. `options` looks up which phrases may translate which words, `beam_search` finds the
   translations worth considering, as a lattice, with `search_edges` for what it has
   found so far and `outlook` on what is left to translate; `dense_features` and
   `features` say what describes an edge.
5. `lattices` puts many of them into flat arrays for the library, `storage` keeps those
   in files, `inputs` makes a lattice with names for everything of a small one.
6. `bleu`, `nist` and `significance` measure translations, `nbest` lists the best of a
   lattice, `pseudo_references` finds those to learn from, `costs` how bad others are.
7. `mert` and `tuning` tune the few dense weights, `training` learns all of them with
   the library's solvers.

`translation_model` joins steps 1 to 3; `invented` makes up sentences where there are
none.
"""

"""A phrase-based translator, trained on lattices (Wang and Shawe-Taylor 2009, 5.2).

From two text files to translations, each step in a file of its own:

1. `bitext` reads the pairs of sentences, `vocabulary` numbers their words.
2. `word_alignment` finds which word translates which (IBM model 1, then a hidden Markov
   model), once in each direction; `symmetrise` makes one alignment of the two.
3. `extraction` takes the phrases and their orientations from it, `phrase_table` counts
   and scores them; `language_model` is a trigram model with Kneser-Ney smoothing.
4. `beam_search` finds the translations worth considering, as a lattice; `lattices`
   gives its edges their features, and hands them to the library.
5. `bleu`, `nist` and `significance` measure translations, `pseudo_references` finds
   the best that a lattice has.
6. `mert` tunes the few dense weights, the library's solvers all of them.
"""

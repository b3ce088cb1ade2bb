"""Coverage-guided fuzzing of every parser of foreign bytes: the targets, their corpus, and what counts as a finding."""

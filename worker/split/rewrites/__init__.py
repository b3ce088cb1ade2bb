"""The rewrites that cut the model into stages and make them faster, each shown equal."""

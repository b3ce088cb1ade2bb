"""onnxruntime's execution providers: which run what, with which options, and what became of that."""

"""Operators that onnxruntime's CoreML provider takes in an ML Program, with the conditions that it documents.

From https://github.com/microsoft/onnxruntime/blob/main/tools/ci_build/github/apple/coreml_supported_mlprogram_ops.md
(also https://onnxruntime.ai/docs/execution-providers/CoreML-ExecutionProvider.html). Sin and Cos are there since
onnxruntime's pull request 28596, weights outside the model's file since 28062.
"""

MLPROGRAM = frozenset(
    (
        "Add",
        "ArgMax",
        "AveragePool",
        "Cast",
        "Ceil",
        "Clip",
        "Concat",
        "Conv",
        "ConvTranspose",
        "Cos",
        "DepthToSpace",
        "Div",
        "Elu",
        "Erf",
        "Exp",
        "GatherND",
        "Gelu",
        "Gemm",
        "GlobalAveragePool",
        "GlobalMaxPool",
        "GridSample",
        "GroupNormalization",
        "HardSigmoid",
        "Identity",
        "InstanceNormalization",
        "LayerNormalization",
        "LeakyRelu",
        "MatMul",
        "Max",
        "MaxPool",
        "Mul",
        "PRelu",
        "Pow",
        "Range",
        "Reciprocal",
        "ReduceMax",
        "ReduceMean",
        "ReduceSum",
        "Relu",
        "Reshape",
        "Resize",
        "Round",
        "Shape",
        "Sigmoid",
        "Sin",
        "Slice",
        "Softmax",
        "Softplus",
        "Split",
        "Sqrt",
        "Squeeze",
        "Sub",
        "Tanh",
        "Tile",
        "Transpose",
        "Unsqueeze",
    )
)

CONSTANT_INPUTS = {
    "Conv": (1, 2),
    "ConvTranspose": (1, 2),
    "Gemm": (1, 2),
    "Reshape": (1,),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Unsqueeze": (1,),
}
"""Places of inputs that have to be constants."""

LONGEST = 16_384
"""No dimension of any input of a node may be more: `IsInputSupported` in onnxruntime's
core/providers/coreml/builders/helper.cc, after https://github.com/apple/coremltools/issues/1003."""

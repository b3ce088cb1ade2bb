"""Tools for ONNX graphs: reading, editing, dynamic int8."""

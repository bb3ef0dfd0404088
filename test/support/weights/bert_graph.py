"""Builds the ONNX graph of a BERT encoder from its weights, in fp32 or with int8 linear layers.

The graph uses ONNX Runtime's own fused operators (domain com.microsoft) where it has them, so that it runs at
full speed whatever the runtime's own fusions recognise: one Attention node per layer instead of eleven.
"""

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

CONTRIB = "com.microsoft"


class BertGraph:
    """Collects nodes and constants; each method appends one block and returns the name of its output."""

    def __init__(self, weights, config, int8):
        self.weights = weights
        self.config = config
        self.int8 = int8
        self.nodes = []
        self.constants = []
        self.count = 0

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        self.count += 1
        names = [f"{op}_{self.count}" if i == 0 else f"{op}_{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=names[0], domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def layer_norm(self, x, prefix):
        scale = self.constant(f"{prefix}.weight", self.weights[f"{prefix}.weight"])
        bias = self.constant(f"{prefix}.bias", self.weights[f"{prefix}.bias"])
        return self.node("LayerNormalization", [x, scale, bias], axis=-1, epsilon=self.config["layer_norm_eps"])

    def matmul(self, x, name, weight):
        """x [.., in] times weight [in, out]; in int8 the weight has one symmetric scale per output column."""
        if not self.int8:
            return self.node("MatMul", [x, self.constant(name, weight)])
        scale = np.maximum(np.abs(weight).max(axis=0), 1e-12) / 127
        quantised = np.rint(weight / scale).astype(np.int8)
        q = self.constant(f"{name}.int8", quantised)
        zero = self.constant(f"{name}.zero", np.zeros(weight.shape[1], np.int8))
        column = self.constant(f"{name}.scale", scale.astype(np.float32))
        a, a_scale, a_zero = self.node("DynamicQuantizeLinear", [x], outputs=3)
        product = self.node("Cast", [self.node("MatMulInteger", [a, q, a_zero, zero])], to=TensorProto.FLOAT)
        return self.node("Mul", [product, self.node("Mul", [a_scale, column])])

    def linear(self, x, prefix):
        bias = self.constant(f"{prefix}.bias", self.weights[f"{prefix}.bias"])
        weight = self.weights[f"{prefix}.weight"].T  # PyTorch keeps [out, in]
        return self.node("Add", [self.matmul(x, f"{prefix}.weight", weight), bias])

    def lookup(self, ids, name):
        table = self.weights[f"embeddings.{name}.weight"]
        if not self.int8:
            return self.node("Gather", [self.constant(f"{name}.table", table), ids])
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-12) / 127
        rows = self.node("Gather", [self.constant(f"{name}.int8", np.rint(table / scale).astype(np.int8)), ids])
        scales = self.node("Gather", [self.constant(f"{name}.scale", scale.astype(np.float32)), ids])
        return self.node("Mul", [self.node("Cast", [rows], to=TensorProto.FLOAT), scales])

    def embeddings(self):
        shape = self.node("Shape", ["input_ids"], start=1, end=2)
        zero = self.constant("zero", np.zeros(1, np.int64))
        table = self.constant("position.table", self.weights["embeddings.position_embeddings.weight"])
        position = self.node("Slice", [table, zero, shape, zero])
        words = self.lookup("input_ids", "word_embeddings")
        kinds = self.lookup("token_type_ids", "token_type_embeddings")
        total = self.node("Add", [self.node("Add", [words, kinds]), position])
        return self.layer_norm(total, "embeddings.LayerNorm")

    def attention(self, x, prefix, mask):
        """In fp32 query, key and value are one product of width 3 x hidden; in int8 they share one quantised input."""
        parts = [f"{prefix}.self.{part}" for part in ("query", "key", "value")]
        heads = self.config["num_attention_heads"]
        if self.int8:
            q, k, v = (self.linear(x, part) for part in parts)
            return self.node("MultiHeadAttention", [q, k, v, "", mask], domain=CONTRIB, num_heads=heads)
        weight = np.concatenate([self.weights[f"{part}.weight"].T for part in parts], axis=1)
        bias = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        inputs = [x, self.constant(f"{prefix}.qkv", weight), self.constant(f"{prefix}.qkv.bias", bias), mask]
        return self.node("Attention", inputs, domain=CONTRIB, num_heads=heads)

    def layer(self, x, index, mask):
        prefix = f"encoder.layer.{index}"
        attended = self.linear(self.attention(x, f"{prefix}.attention", mask), f"{prefix}.attention.output.dense")
        x = self.layer_norm(self.node("Add", [attended, x]), f"{prefix}.attention.output.LayerNorm")
        inner = self.node("Gelu", [self.linear(x, f"{prefix}.intermediate.dense")])
        return self.layer_norm(
            self.node("Add", [self.linear(inner, f"{prefix}.output.dense"), x]), f"{prefix}.output.LayerNorm"
        )


def build(weights, config, int8=False):
    """The checked model: input_ids, attention_mask, token_type_ids [batch, sequence] int64 to last_hidden_state
    [batch, sequence, hidden] float32."""
    graph = BertGraph(weights, config, int8)
    mask = graph.node("Cast", ["attention_mask"], to=TensorProto.INT32)
    x = graph.embeddings()
    for index in range(config["num_hidden_layers"]):
        x = graph.layer(x, index, mask)
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"], name="last_hidden_state"))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "sequence"]) for n in names]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", config["hidden_size"]]
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)]
    made = helper.make_model(
        helper.make_graph(graph.nodes, "bert", inputs, [output], graph.constants), opset_imports=opsets, ir_version=9
    )
    checker.check_model(made)
    return made

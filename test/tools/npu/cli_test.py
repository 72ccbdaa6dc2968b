"""The npu command: the main job, and every kind of bad input.

Bad input ends in exit code 1 and one error line that names the cause, and
leaves no file behind.
"""
import filecmp
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile

ROOT = os.getcwd()
NPU = os.path.join(ROOT, "tools/npu/npu")
OPT = os.path.join(ROOT, "tools/npu-opt/npu-opt")
TRANSLATE = os.path.join(ROOT, "tools/npu-translate/npu-translate")
SAMPLE = os.path.join(ROOT, "examples/roadsigns")
MODEL = os.path.join(SAMPLE, "roadsigns_mbv3.onnx")
PICTURE = os.path.join(SAMPLE, "eval/0005.jpg")

GRAPH = """
ir_version: 8
opset_import { version: %(opset)s }
graph {
  name: "g"
  node { op_type: "%(op)s" name: "n1" input: "x" input: "w" output: "%(out)s" }
  initializer { name: "w" dims: 4 data_type: 1 %(weights)s }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 1 } dim { dim_value: %(dim)s } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
"""


def graph(opset=13, op="Add", out="y", weights="float_data: [1, 2, 3, 4]", dim=4):
    return GRAPH % dict(opset=opset, op=op, out=out, weights=weights, dim=dim)


def npy(shape, kind="<f4", size=4):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * ((64 - (10 + len(head) + 1) % 64) % 64) + "\n"
    count = 1
    for d in shape:
        count *= d
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(count * size)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.out = os.path.join(self.dir, "out")

    def tearDown(self):
        shutil.rmtree(self.dir)

    def path(self, name, content=None):
        path = os.path.join(self.dir, name)
        if content is not None:
            with open(path, "wb") as f:
                f.write(content if isinstance(content, bytes) else content.encode())
        return path

    def run_npu(self, *args):
        return subprocess.run([NPU, *args], cwd=self.dir, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def good(self, *args):
        result = self.run_npu(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def bad(self, needles, *args):
        """Exit code 1, an error with all of `needles`, no output files."""
        result = self.run_npu(*args)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        errors = [l for l in result.stderr.splitlines() if "error:" in l]
        self.assertEqual(len(errors), 1, result.stderr)
        for needle in [needles] if isinstance(needles, str) else needles:
            self.assertIn(needle, result.stderr)
        self.assertFalse(os.path.isdir(self.out) and os.listdir(self.out),
                         "files are left behind")

    def build_sample(self, name="good", *args):
        out = os.path.join(self.dir, name)
        self.good("build", MODEL, "-o", out, "--config", os.path.join(SAMPLE, "npu.json"),
                  "-q", "--compare", "2", "--steps", "8", *args)
        return os.path.join(out, "roadsigns_mbv3.npub")


class MainJob(Case):
    def test_build_run_info_eval(self):
        blob = self.build_sample()
        folder = os.path.dirname(blob)
        with open(os.path.join(folder, "report.json")) as f:
            report = json.load(f)
        self.assertEqual(report["coverage"]["host_nodes"], 0)
        self.assertEqual(report["coverage"]["npu_mac_fraction"], 1)
        self.assertEqual(report["coverage"]["npu_subgraphs"], 1)
        self.assertGreater(report["coverage"]["npu_nodes"], 50)
        self.assertEqual(report["coverage"]["host"], [])
        for key in ["cycles", "latency_ms", "mac_efficiency"]:
            self.assertGreater(report["estimate"][key], 0)
        memory = report["memory"]
        self.assertGreaterEqual(memory["dram_arena_bytes"], memory["dram_arena_lower_bound_bytes"])
        self.assertGreater(memory["weight_bytes"], 100000)
        self.assertGreater(memory["sram_peak_bytes"], 0)
        self.assertGreater(report["similarity"]["logits"]["cosine"], 0.99)
        self.assertGreaterEqual(report["seconds"]["import"], 0)
        self.assertIn("npu-mlir", report["versions"])
        text = self.good("run", blob, "--input", PICTURE, "--top", "3", "--profile")
        self.assertIn("stop", text.split("logits:")[1].splitlines()[1])
        self.assertIn("total", text)
        info = json.loads(self.good("info", blob, "--json"))
        self.assertEqual(info["mode"], "int8")
        self.assertEqual(info["inputs"][0]["preprocess"]["mean"], [127.5] * 3)
        self.assertIn("matrix", self.good("info", blob, "--layers"))
        result = json.loads(self.good("eval", blob, "--json", "--limit", "64", "--labels",
                                      os.path.join(SAMPLE, "eval/labels.csv")))
        self.assertGreater(result[0]["top1"], 90)

    def test_builds_are_reproducible_and_statistics_reusable(self):
        a, b = self.build_sample("a"), self.build_sample("b")
        self.assertTrue(filecmp.cmp(a, b, shallow=False))
        stats = os.path.join(os.path.dirname(a), "calibration.json")
        self.good("build", MODEL, "-o", self.out, "--stats", stats, "-q", "--method", "minmax",
                  "--config", os.path.join(SAMPLE, "npu.json"), "--compare", "0")

    def test_method_and_layers_in_f32_are_found(self):
        blob = self.build_sample("mixed", "--method", "auto", "--min-cosine", "0.99999")
        with open(os.path.join(os.path.dirname(blob), "report.json")) as f:
            report = json.load(f)
        self.assertEqual(report["mode"], "mixed")
        q = report["quantization"]
        whole = [t["method"] for t in q["tried"]
                 if t["split_channels"] == 1 and not t["bias_corrected"]]
        self.assertEqual(whole[:6], ["minmax", "mse", "entropy"] + 3 * ["percentile"])
        self.assertGreaterEqual(len(q["tried"]), 8)
        best = max(q["tried"], key=lambda t: t["cosine"])
        for key in ["method", "split_channels", "bias_corrected"]:
            self.assertEqual(q[key], best[key], key)
        self.assertEqual(q["min_cosine"], 0.99999)
        self.assertLess(best["cosine"], 0.99999)
        self.assertTrue(q["kept_float"] and q["kept_float"][0]["nodes"])
        self.assertGreaterEqual(report["similarity"]["logits"]["cosine"], 0.99999)

    def test_targets_threads_and_kernels_give_the_same_bytes(self):
        first = None
        for target in ["edge", "pc", "micro", "host"]:
            blob = self.build_sample(target, "--target", target)
            for flags in [[], ["--threads", "2"], ["--portable"]]:
                y = self.path("y.npz")
                self.good("run", blob, "-i", PICTURE, "-o", y, "-q", *flags)
                with zipfile.ZipFile(y) as z:
                    logits = z.read("logits.npy")
                first = first or logits
                self.assertEqual(logits, first, (target, flags))

    def test_fp32_without_data_warns(self):
        result = self.run_npu("build", MODEL, "-o", self.out)
        self.assertEqual(result.returncode, 0)
        self.assertIn("no calibration data", result.stdout)
        self.good("build", MODEL, "-o", self.out, "--require-npu", "-q")

    def test_levels_are_kept_and_parse(self):
        self.good("build", MODEL, "-o", self.out, "--save-temps", "-q")
        temps = sorted(os.listdir(os.path.join(self.out, "temps")))
        self.assertEqual([t[0] for t in temps], list("12456"))
        for temp in temps:
            subprocess.run([OPT, os.path.join(self.out, "temps", temp), "-o", os.devnull],
                           check=True)

    def test_blob_round_trip(self):
        for target in ["edge", "pc", "micro", "host"]:
            blob = self.build_sample(target, "--target", target)
            text, again = self.path("t.mlir"), self.path("again.npub")
            subprocess.run([TRANSLATE, "--blob-to-npu", blob, "-o", text], check=True)
            subprocess.run([TRANSLATE, "--npu-to-blob", text, "-o", again], check=True)
            self.assertTrue(filecmp.cmp(blob, again, shallow=False), target)

    def test_inputs_by_name_and_npy_outputs(self):
        blob = self.build_sample()
        x = self.path("x.npy", npy((1, 3, 96, 96)))
        self.good("run", blob, "-i", "image=" + x, "-o", self.path("y.npy"), "-q")
        self.assertTrue(os.path.exists(self.path("y.npy")))


class BadModels(Case):
    def check(self, needles, name, content, *args):
        self.bad(needles, "build", self.path(name, content), "-o", self.out, *args)

    def test_missing(self):
        self.bad("none.onnx", "build", "none.onnx", "-o", self.out)

    def test_empty(self):
        self.check("m.onnx", "m.onnx", b"")

    def test_truncated(self):
        with open(MODEL, "rb") as f:
            self.check("cut short", "m.onnx", f.read(100000))

    def test_corrupt(self):
        with open(MODEL, "rb") as f:
            data = bytearray(f.read())
        data[10:400] = b"\xff" * 390
        self.check("not an ONNX model", "m.onnx", bytes(data))

    def test_not_onnx(self):
        with open(PICTURE, "rb") as f:
            self.check("not an ONNX model", "m.onnx", f.read())

    def test_folder(self):
        self.bad(self.dir, "build", self.dir, "-o", self.out)

    def test_external_data_missing(self):
        self.check(["gone.bin"], "m.textproto", graph(
            weights='data_location: EXTERNAL external_data { key: "location" value: "gone.bin" }'))

    def test_cyclic(self):
        self.check("n1", "m.textproto", graph().replace('input: "x" input: "w"',
                                                        'input: "y" input: "w"'))

    def test_unknown_opset(self):
        self.check("opset 99", "m.textproto", graph(opset=99))

    def test_zero_sized(self):
        self.check("dimension 1 is 0", "m.textproto", graph(dim=0))

    def test_nan_weights(self):
        self.check("nan", "m.textproto", graph(weights="float_data: [1, nan, 3, 4]"))

    def test_unsupported_operator(self):
        self.check(["n1", "Einsum", "opset 13"], "m.textproto", graph(op="Einsum"))

    def test_undefined_input(self):
        self.check("n1", "m.textproto", graph().replace('input: "x" input: "w"',
                                                        'input: "q" input: "w"'))


class BadCalibration(Case):
    def check(self, needles, folder, *args):
        self.bad(needles, "build", MODEL, "-o", self.out, "--calibration", folder, *args)

    def config(self):
        return ["--config", self.path("c.json", '{"input": {"mean": 127.5, "std": 127.5}}')]

    def test_missing_folder(self):
        self.check("nowhere", "nowhere")

    def test_empty_folder(self):
        os.mkdir(self.path("empty"))
        self.check("holds no pictures", self.path("empty"), *self.config())

    def test_unreadable_picture(self):
        os.mkdir(self.path("bad"))
        self.path("bad/a.jpg", "this is no picture")
        self.check("a.jpg", self.path("bad"), *self.config())

    def test_pictures_without_preprocessing(self):
        self.check("mean, std", os.path.join(SAMPLE, "calibration"))

    def test_mixed_kinds(self):
        os.mkdir(self.path("mixed"))
        self.path("mixed/a.npy", npy((1, 3, 96, 96)))
        shutil.copy(PICTURE, self.path("mixed"))
        self.check("both pictures and arrays", self.path("mixed"), *self.config())

    def test_array_of_another_shape(self):
        os.mkdir(self.path("arrays"))
        self.path("arrays/a.npy", npy((1, 3, 95, 96)))
        self.check("[1,3,95,96]", self.path("arrays"))

    def test_int8_without_data(self):
        self.bad("--calibration", "build", MODEL, "-o", self.out, "--mode", "int8")

    def test_statistics_of_another_model(self):
        stats = os.path.join(os.path.dirname(self.build_sample()), "calibration.json")
        other = self.path("m.textproto", graph())
        self.bad("another model", "build", other, "-o", self.out, "--stats", stats)

    def test_unreadable_statistics(self):
        self.bad("s.json", "build", MODEL, "-o", self.out, "--stats",
                 self.path("s.json", '{"format": "x"}'))

    def test_unknown_method(self):
        self.bad("median", "build", MODEL, "-o", self.out, "--calibration",
                 os.path.join(SAMPLE, "calibration"), "--method", "median", *self.config())

    def test_goals_that_cannot_be(self):
        data = ["--calibration", os.path.join(SAMPLE, "calibration"), *self.config()]
        self.bad("[0, 1)", "build", MODEL, "-o", self.out, "--min-cosine", "1.5", *data)
        self.bad("this build is fp32", "build", MODEL, "-o", self.out, "--min-cosine", "0.9",
                 "--mode", "fp32", *data)
        self.bad("needs samples", "build", MODEL, "-o", self.out, "--min-cosine", "0.9",
                 "--compare", "0", *data)

    def test_keep_float_matches_nothing(self):
        out = self.run_npu("build", MODEL, "-o", self.path("o2"), "--keep-float", "nothing",
                           "--config", os.path.join(SAMPLE, "npu.json"), "-q")
        self.assertEqual(out.returncode, 1)
        self.assertIn("nothing", out.stderr)
        self.assertFalse([f for f in os.listdir(self.path("o2")) if f.endswith(".npub")]
                         if os.path.isdir(self.path("o2")) else [])


class BadConfig(Case):
    def check(self, needles, text):
        self.bad(needles, "build", MODEL, "-o", self.out, "--config", self.path("c.json", text))

    def test_unknown_key(self):
        self.check(["$.input", "meen"], '{"input": {"meen": 1}}')

    def test_wrong_type(self):
        self.check("$.input.mean", '{"input": {"mean": "x"}}')

    def test_syntax(self):
        self.check("c.json", '{"input": ')

    def test_missing_file(self):
        self.bad("no.json", "build", MODEL, "-o", self.out, "--config", "no.json")

    def test_missing_dataset(self):
        self.check("$.quantize.calibration_dataset",
                   '{"quantize": {"calibration_dataset": "gone"}}')

    def test_another_input(self):
        self.check("image", '{"input": {"name": "img", "mean": 1}}')

    def test_another_shape(self):
        self.check("image", '{"input": {"name": "image", "shape": [1, 3, 64, 64]}}')

    def test_unknown_target(self):
        self.bad(["tpu", "edge"], "build", MODEL, "-o", self.out, "--target", "tpu")

    def test_target_file_with_an_unknown_key(self):
        target = self.path("t.json", '{"base": "edge", "name": "t", "coores": 2}')
        self.bad("coores", "build", MODEL, "-o", self.out, "--target", target)

    def test_unknown_option(self):
        self.bad("--frobnicate", "build", MODEL, "-o", self.out, "--frobnicate")

    def test_no_command(self):
        self.bad("npu --help")


class BadRuns(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        subprocess.run([NPU, "build", MODEL, "-o", cls.folder, "-q", "--config",
                        os.path.join(SAMPLE, "npu.json"), "--steps", "4"], check=True)
        cls.blob = os.path.join(cls.folder, "roadsigns_mbv3.npub")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def check(self, needles, *args):
        self.bad(needles, "run", self.blob, *args)

    def damaged(self, change):
        with open(self.blob, "rb") as f:
            data = bytearray(f.read())
        return self.path("bad.npub", bytes(change(data)))

    def test_wrong_shape(self):
        self.check(["image", "[1,3,96,96]"], "-i", self.path("x.npy", npy((1, 3, 96, 95))))

    def test_wrong_type(self):
        self.check("c16", "-i", self.path("x.npy", npy((1, 3, 96, 96), "<c16", 16)))

    def test_missing_array(self):
        path = self.path("x.npz")
        with zipfile.ZipFile(path, "w") as z:
            z.writestr("other.npy", npy((1, 3, 96, 96)))
        self.check(["image", "other"], "-i", path)

    def test_unreadable_picture(self):
        self.check("x.jpg", "-i", self.path("x.jpg", "no picture"))

    def test_missing_input(self):
        self.check("gone.jpg", "-i", "gone.jpg")

    def test_unknown_ending(self):
        self.check(".npz", "-i", self.path("x.txt", "1 2 3"))

    def test_output_ending(self):
        self.check("y.txt", "-i", PICTURE, "-o", os.path.join(self.dir, "y.txt"))
        self.assertFalse(os.path.exists(self.path("y.txt")))

    def test_too_many_threads(self):
        self.check("5000", "-i", PICTURE, "--threads", "5000")

    def test_blob_cut_short(self):
        self.bad("damaged", "run", self.damaged(lambda d: d[:-1000]), "-i", PICTURE)

    def test_blob_with_a_changed_byte(self):
        def flip(data):
            data[len(data) // 2] ^= 1
            return data
        self.bad("checksum", "run", self.damaged(flip), "-i", PICTURE)

    def test_not_a_blob(self):
        self.bad("not a blob", "run", MODEL, "-i", PICTURE)

    def test_missing_blob(self):
        self.bad("gone.npub", "info", "gone.npub")

    def test_labels(self):
        labels = self.path("l.csv", "file,class\n0001.jpg,no_such_sign\n")
        self.bad("no_such_sign", "eval", self.blob, "--labels", labels, "--folder",
                 os.path.join(SAMPLE, "eval"))
        self.bad("l.csv:2", "eval", self.blob, "--labels", self.path("l.csv", "file,class\nx\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)

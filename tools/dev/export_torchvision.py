#!/usr/bin/python3
"""Exports torchvision's architectures to ONNX, to check the importer with.

    tools/dev/export_torchvision.py FOLDER [--opsets 11 13 17] [--models NAME ...]

Writes FOLDER/NAME.opsetN.onnx, input 1x3x224x224, batch fixed. The weights are
random: fan-in scaled, with batch statistics near those of the activations, so
that nothing vanishes or explodes. Needs Debian's python3-torchvision.
"""
import argparse
import math
import os

import torch
import torchvision

MODELS = """
mobilenet_v2 mobilenet_v3_small mobilenet_v3_large mnasnet1_0 efficientnet_b0
shufflenet_v2_x1_0 squeezenet1_1 resnet18 resnet50 resnext50_32x4d densenet121
googlenet inception_v3 regnet_x_400mf regnet_y_400mf convnext_tiny swin_t
vit_b_16 vgg11 lraspp_mobilenet_v3_large deeplabv3_mobilenet_v3_large
""".split()


def initialise(model):
    for module in model.modules():
        weight = getattr(module, "weight", None)
        if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)):
            fan_in = weight[0].numel()
            torch.nn.init.normal_(weight, std=math.sqrt(1.6 / fan_in))
            if module.bias is not None:
                torch.nn.init.normal_(module.bias, std=0.05)
        elif isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            torch.nn.init.uniform_(weight, 0.8, 1.2)
            torch.nn.init.normal_(module.bias, std=0.1)
    # Statistics of a few random pictures.
    model.train()
    with torch.no_grad():
        for _ in range(3):
            model(torch.rand(4, 3, 224, 224) * 2 - 1)
    model.eval()


class Output(torch.nn.Module):
    """The segmentation networks give a dictionary."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        out = self.model(x)
        return out["out"] if isinstance(out, dict) else out


def build(name):
    for package in (torchvision.models, torchvision.models.segmentation):
        if hasattr(package, name):
            options = {"weights": None}
            if package is torchvision.models.segmentation:
                options["weights_backbone"] = None
            if name in ("googlenet", "inception_v3"):
                options["init_weights"] = False
            torch.manual_seed(1)
            model = getattr(package, name)(**options)
            if hasattr(model, "aux_logits"):  # only training has these
                model.aux_logits = False
                model.AuxLogits = model.aux1 = model.aux2 = None
            initialise(model)
            return Output(model).eval()
    raise SystemExit(f"torchvision has no model {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--opsets", type=int, nargs="+", default=[11, 13, 17])
    parser.add_argument("--models", nargs="+", default=MODELS)
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    for name in args.models:
        model = build(name)
        for opset in args.opsets:
            path = os.path.join(args.folder, f"{name}.opset{opset}.onnx")
            try:
                torch.onnx.export(
                    model, torch.rand(1, 3, 224, 224), path,
                    opset_version=opset, input_names=["x"], output_names=["y"])
                print(path, flush=True)
            except Exception as error:  # what an exporter cannot do, it says
                print(f"{path}: not exported: {error}", flush=True)


if __name__ == "__main__":
    main()

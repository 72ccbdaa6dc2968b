#!/usr/bin/env python3
"""Trains a small MobileNetV3-style network on generated road signs and exports it to ONNX.

    python3 train.py --out roadsigns_mbv3.onnx

The network takes "image" [1, 3, 96, 96], RGB, normalised as (x - 127.5) / 127.5 by the caller,
and gives "logits" [1, number of classes]. Training, calibration, evaluation and test pictures
come from different seeds of generate.py. The accuracies go into metrics.json next to the model.
"""

import argparse
import json
import math
import os
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import generate

# One seed per set of pictures: no picture is in two sets.
SEED_TRAIN, SEED_EVAL, SEED_CALIBRATION, SEED_TEST = 1, 2, 3, 4
EVAL_COUNT, TEST_COUNT = 200, 4000

MEAN = STD = 127.5
ACTIVATIONS = {"relu": nn.ReLU, "hswish": nn.Hardswish}

# kernel, expanded channels, output channels, squeeze-excite, activation, stride
BLOCKS = (
    (3, 16, 16, True, "relu", 2),
    (3, 64, 24, False, "relu", 1),
    (3, 72, 24, False, "relu", 1),
    (5, 96, 40, True, "hswish", 2),
    (5, 120, 40, True, "hswish", 1),
    (3, 120, 48, False, "hswish", 1),
    (5, 240, 80, True, "hswish", 2),
    (5, 320, 80, True, "hswish", 1),
)
STEM_CHANNELS, HEAD_CHANNELS, HIDDEN = 16, 480, 256


# ---------------------------------------------------------------------------------------------
# The network
# ---------------------------------------------------------------------------------------------

def convolution(inputs, outputs, kernel, stride=1, groups=1, activation=None):
    """Convolution, batch normalisation and, if named, an activation."""
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outputs)]
    if activation:
        layers.append(ACTIVATIONS[activation]())
    return nn.Sequential(*layers)


class SqueezeExcite(nn.Module):
    """Scales each channel by a gate computed from the means of all channels."""

    def __init__(self, channels):
        super().__init__()
        squeezed = max(8, (channels // 4 + 7) // 8 * 8)
        self.reduce = nn.Conv2d(channels, squeezed, 1)
        self.expand = nn.Conv2d(squeezed, channels, 1)
        self.gate = nn.Hardsigmoid()

    def forward(self, x):
        scale = functional.adaptive_avg_pool2d(x, 1)
        scale = functional.relu(self.reduce(scale))
        return x * self.gate(self.expand(scale))


class InvertedResidual(nn.Module):
    """Expansion (1x1), depthwise convolution, squeeze-excite and projection (1x1)."""

    def __init__(self, inputs, kernel, expanded, outputs, squeeze, activation, stride):
        super().__init__()
        layers = []
        if expanded != inputs:
            layers.append(convolution(inputs, expanded, 1, activation=activation))
        layers.append(convolution(expanded, expanded, kernel, stride, expanded, activation))
        if squeeze:
            layers.append(SqueezeExcite(expanded))
        layers.append(convolution(expanded, outputs, 1))
        self.body = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.body(x)
        return x + y if self.residual else y


class RoadSignNet(nn.Module):
    """The whole network: normalised pictures in, logits out."""

    def __init__(self, classes):
        super().__init__()
        layers = [convolution(3, STEM_CHANNELS, 3, 2, activation="hswish")]
        channels = STEM_CHANNELS
        for kernel, expanded, outputs, squeeze, activation, stride in BLOCKS:
            layers.append(InvertedResidual(channels, kernel, expanded, outputs, squeeze, activation, stride))
            channels = outputs
        layers.append(convolution(channels, HEAD_CHANNELS, 1, activation="hswish"))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Linear(HEAD_CHANNELS, HIDDEN), nn.Hardswish(), nn.Dropout(0.2),
                                        nn.Linear(HIDDEN, classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x):
        x = functional.adaptive_avg_pool2d(self.features(x), 1)
        return self.classifier(torch.flatten(x, 1))


def count_parameters(net):
    """Number of trained parameters."""
    return sum(parameter.numel() for parameter in net.parameters())


def count_macs(net):
    """Multiply-accumulates of the convolutions and matrix products for one picture."""
    total = 0

    def count(module, _inputs, output):
        nonlocal total
        total += output.numel() * module.weight[0].numel()

    layers = [module for module in net.modules() if isinstance(module, (nn.Conv2d, nn.Linear))]
    hooks = [layer.register_forward_hook(count) for layer in layers]
    net.eval()
    with torch.no_grad():
        net(torch.zeros(1, 3, generate.SIZE, generate.SIZE))
    for hook in hooks:
        hook.remove()
    return total


# ---------------------------------------------------------------------------------------------
# Training
# ---------------------------------------------------------------------------------------------

def normalise(pictures):
    """uint8 [N, H, W, 3] to float [N, 3, H, W] (channels last in memory, which trains faster)."""
    return (pictures.permute(0, 3, 1, 2).float() - MEAN) / STD


def augment(pictures, random):
    """Shifts each picture by up to 6 pixels and changes its contrast and brightness a little."""
    margin, size = 6, generate.SIZE
    padded = np.pad(pictures, ((0, 0), (margin, margin), (margin, margin), (0, 0)), mode="reflect")
    result = np.empty_like(pictures)
    for index, (y, x) in enumerate(random.integers(0, 2 * margin + 1, (len(pictures), 2))):
        result[index] = padded[index, y:y + size, x:x + size]
    batch = normalise(torch.from_numpy(result))
    gain = torch.from_numpy(random.uniform(0.8, 1.2, (len(pictures), 1, 1, 1)).astype(np.float32))
    shift = torch.from_numpy(random.uniform(-0.1, 0.1, (len(pictures), 3, 1, 1)).astype(np.float32))
    return (batch * gain + shift).clamp_(-1.0, 1.0)


def accuracy(net, pictures, labels, batch=100):
    """Share of pictures whose largest logit is that of their class."""
    net.eval()
    right = 0
    with torch.no_grad():
        for start in range(0, len(pictures), batch):
            logits = net(normalise(torch.from_numpy(pictures[start:start + batch])))
            right += int((logits.argmax(1).numpy() == labels[start:start + batch]).sum())
    return right / len(pictures)


def make_optimizer(net, rate, decay):
    """AdamW; no weight decay for biases and batch normalisation."""
    weights = [p for p in net.parameters() if p.ndim > 1]
    others = [p for p in net.parameters() if p.ndim <= 1]
    return torch.optim.AdamW([{"params": weights, "weight_decay": decay},
                              {"params": others, "weight_decay": 0.0}], lr=rate)


def train(net, pictures, labels, options):
    """Trains `net` in place: warm-up, then a cosine down to nothing."""
    random = np.random.default_rng(options.seed)
    optimizer = make_optimizer(net, options.rate, 0.02)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    steps = len(pictures) // options.batch
    total, warm_up, step = steps * options.epochs, steps, 0
    begin = time.monotonic()
    for epoch in range(options.epochs):
        net.train()
        order = random.permutation(len(pictures))
        loss_sum = right = 0
        for start in range(0, steps * options.batch, options.batch):
            step += 1
            factor = min(1.0, step / warm_up) * 0.5 * (1.0 + math.cos(math.pi * step / total))
            for group in optimizer.param_groups:
                group["lr"] = options.rate * factor
            chosen = order[start:start + options.batch]
            wanted = torch.from_numpy(labels[chosen])
            logits = net(augment(pictures[chosen], random))
            loss = loss_of(logits, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum += float(loss)
            right += int((logits.argmax(1) == wanted).sum())
        print(f"epoch {epoch + 1:3d}/{options.epochs}: loss {loss_sum / steps:.4f}, "
              f"training accuracy {right / (steps * options.batch):.4f}, "
              f"{time.monotonic() - begin:.0f} s", flush=True)


def export(net, path):
    """Writes the network as ONNX opset 13; batch normalisation is folded into convolutions."""
    net = net.to(memory_format=torch.contiguous_format).eval()
    example = torch.zeros(1, 3, generate.SIZE, generate.SIZE)
    torch.onnx.export(net, example, path, opset_version=13, do_constant_folding=True,
                      input_names=["image"], output_names=["logits"])


# ---------------------------------------------------------------------------------------------
# Command line
# ---------------------------------------------------------------------------------------------

def _at_least(low):
    """An argparse type: a whole number that is not less than `low`."""
    def parse(text):
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
        if value < low:
            raise argparse.ArgumentTypeError(f"{value} is less than {low}")
        return value
    return parse


def _rate(text):
    """An argparse type: a number above 0."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def parse_arguments(arguments):
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Trains the road-sign network and exports it to ONNX.")
    parser.add_argument("--out", required=True, metavar="FILE", help="ONNX file; metrics.json goes next to it")
    parser.add_argument("--pictures", type=_at_least(1), default=18000, metavar="N",
                        help="training pictures (default: 18000)")
    parser.add_argument("--epochs", type=_at_least(1), default=13, metavar="N", help="default: 13")
    parser.add_argument("--batch", type=_at_least(2), default=64, metavar="N", help="pictures per step (default: 64)")
    parser.add_argument("--rate", type=_rate, default=0.003, metavar="R", help="largest learning rate (default: 0.003)")
    parser.add_argument("--seed", type=_at_least(0), default=0, metavar="S",
                        help="seed of weights and order of pictures (default: 0)")
    parser.add_argument("--threads", type=_at_least(1), default=2, metavar="N", help="default: 2")
    options = parser.parse_args(arguments)
    if options.pictures < options.batch:
        parser.error("--pictures is less than --batch")
    folder = os.path.dirname(os.path.abspath(options.out))
    if not os.path.isdir(folder):
        parser.error(f"no such folder: {folder}")
    return options


def main(arguments=None):
    """Entry point of the command line; returns the exit status."""
    options = parse_arguments(arguments)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    net = RoadSignNet(len(generate.CLASSES)).to(memory_format=torch.channels_last)
    parameters, macs = count_parameters(net), count_macs(net)
    print(f"{parameters} parameters, {macs} multiply-accumulates per picture", flush=True)

    begin = time.monotonic()
    pictures, labels = generate.render_many(SEED_TRAIN, options.pictures, options.threads)
    print(f"{len(pictures)} training pictures rendered in {time.monotonic() - begin:.0f} s", flush=True)
    train(net, pictures, labels, options)
    export(net, options.out)

    metrics = {"classes": len(generate.CLASSES), "parameters": parameters, "macs": macs,
               "training_pictures": options.pictures, "epochs": options.epochs}
    for name, seed, count in (("eval", SEED_EVAL, EVAL_COUNT), ("test", SEED_TEST, TEST_COUNT)):
        pictures, labels = generate.render_many(seed, count, options.threads)
        for picture in pictures:  # as the files of generate.py hold them
            picture[:] = generate.decode(generate.encode(picture, "jpg"))
        metrics[name] = {"seed": seed, "pictures": count, "float_accuracy": accuracy(net, pictures, labels)}
        print(f"{name}: accuracy {metrics[name]['float_accuracy']:.4f} on {count} pictures of seed {seed}")
    with open(os.path.join(os.path.dirname(os.path.abspath(options.out)), "metrics.json"), "w",
              encoding="utf-8") as file:
        json.dump(metrics, file, indent=2)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

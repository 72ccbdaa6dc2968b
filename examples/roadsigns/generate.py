#!/usr/bin/env python3
"""Renders road-sign pictures for a small picture-classification task.

Every picture is drawn from scratch (no outside pictures, no fonts): a sign is painted on a
canvas, put into a random scene by a perspective warp and then spoilt the way a cheap camera
in a moving car would spoil it: shadows, glare, occlusion, blur, colour cast, noise and JPEG
artefacts.

Picture ``i`` of seed ``s`` depends on ``(s, i)`` only, so a run with a larger ``--count``
starts with the same pictures, and pictures may be rendered in any order or in parallel.

    python3 generate.py --out pictures --count 100 --seed 7

As a module: ``render(seed, index)`` gives one picture and its class number,
``render_many(seed, count, jobs)`` gives arrays.
"""

import argparse
import csv
import math
import multiprocessing
import os
import sys

import cv2
import numpy as np

SIZE = 96           # side of a finished picture, pixels
SCENE = 2 * SIZE    # scenes are drawn at twice the size and scaled down at the end
CANVAS = 192        # side of the canvas a sign is painted on, pixels

cv2.setNumThreads(1)

# ---------------------------------------------------------------------------------------------
# Painting primitives
# ---------------------------------------------------------------------------------------------

_SHIFT = 4  # fractional bits of the coordinates handed to OpenCV


def arc(cx, cy, rx, ry, start, end, steps=20):
    """Points on an ellipse from angle `start` to `end` (degrees, clockwise as y points down)."""
    t = np.radians(np.linspace(start, end, steps))
    return np.stack([cx + rx * np.cos(t), cy + ry * np.sin(t)], axis=1)


def regular_polygon(sides, radius, first_angle):
    """Corners of a regular polygon around the origin."""
    t = np.radians(first_angle + 360.0 * np.arange(sides) / sides)
    return radius * np.stack([np.cos(t), np.sin(t)], axis=1)


def rectangle(x0, y0, x1, y1):
    """Corners of an axis-parallel rectangle."""
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


class Canvas:
    """A square RGB canvas with an alpha plane; both axes run from -1 to 1, y points down."""

    def __init__(self, side=CANVAS):
        self.side = side
        self.rgb = np.zeros((side, side, 3), np.uint8)
        self.alpha = np.zeros((side, side), np.uint8)

    def _fixed(self, points):
        points = (np.asarray(points, float) + 1.0) * (0.5 * self.side) - 0.5
        return np.round(points * (1 << _SHIFT)).astype(np.int32)

    def plate(self, points, colour):
        """Fills a polygon and makes it opaque: the outline of the sign."""
        fixed = [self._fixed(points)]
        self.rgb[:] = colour  # the colour also bleeds outwards, so that edges blend cleanly
        cv2.fillPoly(self.alpha, fixed, 255, cv2.LINE_AA, _SHIFT)

    def polygon(self, points, colour):
        """Fills a polygon."""
        cv2.fillPoly(self.rgb, [self._fixed(points)], colour, cv2.LINE_AA, _SHIFT)

    def disc(self, centre, radius, colour):
        """Fills a disc."""
        self.polygon(arc(*centre, radius, radius, 0, 360, 97), colour)

    def stroke(self, points, width, colour):
        """Draws an open line of the given width with round ends."""
        pixels = max(1, int(round(width * 0.5 * self.side)))
        cv2.polylines(self.rgb, [self._fixed(points)], False, colour, pixels, cv2.LINE_AA, _SHIFT)


# ---------------------------------------------------------------------------------------------
# Glyphs: strokes in a box that is 1 wide and 1 high
# ---------------------------------------------------------------------------------------------

GLYPHS = {
    "0": [arc(0.5, 0.5, 0.42, 0.5, 0, 360, 28)],
    "3": [arc(0.46, 0.26, 0.40, 0.26, -160, 90), arc(0.46, 0.74, 0.44, 0.26, -90, 160)],
    "5": [np.vstack([[[0.88, 0.0], [0.2, 0.0], [0.13, 0.48]],
                     arc(0.46, 0.68, 0.44, 0.32, -140, 150)])],
    "8": [arc(0.5, 0.25, 0.36, 0.25, 0, 360, 24), arc(0.5, 0.75, 0.44, 0.25, 0, 360, 24)],
    "S": [np.vstack([arc(0.5, 0.25, 0.42, 0.25, -20, -270), arc(0.5, 0.75, 0.42, 0.25, -90, 160)])],
    "T": [np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.5, 0.0], [0.5, 1.0]])],
    "O": [arc(0.5, 0.5, 0.46, 0.5, 0, 360, 28)],
    "P": [np.vstack([[[0.1, 1.0], [0.1, 0.0], [0.5, 0.0]], arc(0.5, 0.27, 0.42, 0.27, -90, 90),
                     [[0.1, 0.54]]])],
}


def write(canvas, text, box, width, colour, gap=0.3):
    """Writes `text` into `box` (x0, y0, x1, y1); `gap` is the space between glyphs in widths."""
    x0, y0, x1, y1 = box
    cell = (x1 - x0) / (len(text) + gap * (len(text) - 1))
    for number, letter in enumerate(text):
        left = x0 + number * cell * (1.0 + gap)
        for path in GLYPHS[letter]:
            canvas.stroke(path * [cell, y1 - y0] + [left, y0], width, colour)


# ---------------------------------------------------------------------------------------------
# Signs
# ---------------------------------------------------------------------------------------------

class Paint:
    """The colours of one sign; each varies a little, as paint ages and makers differ."""

    def __init__(self, rng):
        fade = rng.uniform(0.0, 0.25)

        def vary(colour):
            colour = np.asarray(colour, float) + rng.normal(0.0, 9.0, 3)
            colour = colour * (1.0 - fade) + 150.0 * fade
            return tuple(int(v) for v in np.clip(colour, 0, 255))

        self.red = vary((190, 25, 30))
        self.blue = vary((20, 75, 165))
        self.white = vary((238, 238, 235))
        self.black = vary((22, 22, 25))
        self.yellow = vary((245, 190, 20))
        self.width = rng.uniform(0.88, 1.14)  # factor on the widths of strokes


def _arrow_head(canvas, tip, direction, length, half_width, colour):
    """Fills the triangle of an arrow that points along the unit vector `direction`."""
    tip, direction = np.asarray(tip, float), np.asarray(direction, float)
    side = np.array([-direction[1], direction[0]]) * half_width
    back = tip - direction * length
    canvas.polygon([tip, back + side, back - side], colour)


def _ring_sign(canvas, paint, radius=0.96, inner=0.72):
    """White disc with a red ring."""
    canvas.plate(arc(0, 0, radius, radius, 0, 360, 97), paint.red)
    canvas.disc((0, 0), inner, paint.white)


def _blue_disc(canvas, paint):
    """Blue disc with a thin white edge."""
    canvas.plate(arc(0, 0, 0.96, 0.96, 0, 360, 97), paint.white)
    canvas.disc((0, 0), 0.90, paint.blue)


def _triangle(canvas, paint, first_angle):
    """White triangle with a red border; `first_angle` -90 points up, 90 points down."""
    offset = [0.0, 0.26 if first_angle < 0 else -0.26]
    canvas.plate(regular_polygon(3, 1.12, first_angle) + offset, paint.red)
    canvas.polygon(regular_polygon(3, 0.68, first_angle) + offset, paint.white)


def _stop(canvas, paint):
    canvas.plate(regular_polygon(8, 0.98, 22.5), paint.white)
    canvas.polygon(regular_polygon(8, 0.90, 22.5), paint.red)
    write(canvas, "STOP", (-0.68, -0.27, 0.68, 0.27), 0.12 * paint.width, paint.white, gap=0.36)


def _yield(canvas, paint):
    _triangle(canvas, paint, 90)


def _no_entry(canvas, paint):
    canvas.plate(arc(0, 0, 0.96, 0.96, 0, 360, 97), paint.white)
    canvas.disc((0, 0), 0.91, paint.red)
    half = 0.15 * paint.width
    canvas.polygon(rectangle(-0.66, -half, 0.66, half), paint.white)


def _speed(text):
    def draw(canvas, paint):
        _ring_sign(canvas, paint, inner=0.74)
        write(canvas, text, (-0.46, -0.34, 0.46, 0.34), 0.14 * paint.width, paint.black, gap=0.45)
    return draw


def _priority_road(canvas, paint):
    canvas.plate(regular_polygon(4, 0.99, 0), paint.black)
    canvas.polygon(regular_polygon(4, 0.94, 0), paint.white)
    canvas.polygon(regular_polygon(4, 0.64, 0), paint.yellow)


def _turn(side):
    """Arrow that comes from below and bends to the left (-1) or to the right (1)."""
    def draw(canvas, paint):
        _blue_disc(canvas, paint)
        bend = arc(0.02, -0.02, 0.26, 0.26, 180, 270, 10)
        path = np.vstack([[[-0.24, 0.56]], bend, [[0.18, -0.28]]]) * [side, 1]
        canvas.stroke(path, 0.20 * paint.width, paint.white)
        _arrow_head(canvas, (0.66 * side, -0.28), (side, 0), 0.46, 0.36, paint.white)
    return draw


def _straight_on(canvas, paint):
    _blue_disc(canvas, paint)
    canvas.stroke([[0, 0.6], [0, -0.2]], 0.20 * paint.width, paint.white)
    _arrow_head(canvas, (0, -0.72), (0, -1), 0.48, 0.38, paint.white)


def _pedestrian_crossing(canvas, paint):
    canvas.plate(rectangle(-0.9, -0.9, 0.9, 0.9), paint.white)
    canvas.polygon(rectangle(-0.84, -0.84, 0.84, 0.84), paint.blue)
    canvas.polygon([[0, -0.74], [0.74, 0.66], [-0.74, 0.66]], paint.white)
    width = 0.11 * paint.width
    canvas.disc((0.03, -0.29), 0.085, paint.black)
    canvas.stroke([[0.02, -0.15], [-0.01, 0.13]], 1.25 * width, paint.black)
    canvas.stroke([[-0.01, 0.13], [0.12, 0.30], [0.17, 0.48]], width, paint.black)
    canvas.stroke([[-0.01, 0.13], [-0.10, 0.32], [-0.24, 0.46]], width, paint.black)
    canvas.stroke([[0.02, -0.12], [0.16, 0.02], [0.25, 0.04]], 0.7 * width, paint.black)
    canvas.stroke([[0.02, -0.12], [-0.12, 0.0], [-0.17, 0.10]], 0.7 * width, paint.black)
    for x in (-0.44, -0.15, 0.14, 0.43):
        canvas.polygon(rectangle(x - 0.07, 0.53, x + 0.07, 0.62), paint.black)


def _roundabout(canvas, paint):
    _blue_disc(canvas, paint)
    for turn in (0, 120, 240):
        canvas.stroke(arc(0, 0, 0.5, 0.5, turn - 60, turn + 12, 12), 0.17 * paint.width, paint.white)
        angle = math.radians(turn + 12)
        radial = np.array([math.cos(angle), math.sin(angle)])
        along = np.array([-radial[1], radial[0]])
        _arrow_head(canvas, 0.5 * radial + 0.34 * along, along, 0.36, 0.25, paint.white)


def _car(canvas, x, colour, glass):
    """Rear view of a car around (x, 0.05)."""
    canvas.polygon([[x - 0.14, -0.20], [x + 0.14, -0.20], [x + 0.22, 0.0], [x + 0.24, 0.22],
                    [x - 0.24, 0.22], [x - 0.22, 0.0]], colour)
    canvas.polygon([[x - 0.11, -0.14], [x + 0.11, -0.14], [x + 0.15, -0.02], [x - 0.15, -0.02]], glass)
    for wheel in (-0.17, 0.17):
        canvas.polygon(rectangle(x + wheel - 0.055, 0.2, x + wheel + 0.055, 0.32), colour)


def _no_overtaking(canvas, paint):
    _ring_sign(canvas, paint, inner=0.76)
    _car(canvas, -0.29, paint.red, paint.white)
    _car(canvas, 0.29, paint.black, paint.white)


def _parking(canvas, paint):
    canvas.plate(rectangle(-0.9, -0.9, 0.9, 0.9), paint.white)
    canvas.polygon(rectangle(-0.83, -0.83, 0.83, 0.83), paint.blue)
    write(canvas, "P", (-0.33, -0.52, 0.38, 0.56), 0.23 * paint.width, paint.white)


def _dead_end(canvas, paint):
    canvas.plate(rectangle(-0.9, -0.9, 0.9, 0.9), paint.white)
    canvas.polygon(rectangle(-0.83, -0.83, 0.83, 0.83), paint.blue)
    half = 0.14 * paint.width
    canvas.polygon(rectangle(-half, -0.3, half, 0.83), paint.white)
    canvas.polygon(rectangle(-0.52, -0.58, 0.52, -0.2), paint.white)
    canvas.polygon(rectangle(-0.46, -0.52, 0.46, -0.26), paint.red)


def _warning(canvas, paint):
    _triangle(canvas, paint, -90)
    half = 0.095 * paint.width
    canvas.polygon([[-half, -0.22], [half, -0.22], [0.6 * half, 0.26], [-0.6 * half, 0.26]], paint.black)
    canvas.disc((0, 0.42), half, paint.black)


SIGNS = {
    "stop": _stop,
    "yield": _yield,
    "no_entry": _no_entry,
    "speed_limit_30": _speed("30"),
    "speed_limit_50": _speed("50"),
    "speed_limit_80": _speed("80"),
    "priority_road": _priority_road,
    "turn_left": _turn(-1),
    "turn_right": _turn(1),
    "straight_on": _straight_on,
    "pedestrian_crossing": _pedestrian_crossing,
    "roundabout": _roundabout,
    "no_overtaking": _no_overtaking,
    "parking": _parking,
    "dead_end": _dead_end,
    "warning": _warning,
}
CLASSES = tuple(SIGNS)


def paint_sign(name, rng):
    """Paints the sign `name`; returns its canvas."""
    canvas = Canvas()
    SIGNS[name](canvas, Paint(rng))
    return canvas


# ---------------------------------------------------------------------------------------------
# Backgrounds
# ---------------------------------------------------------------------------------------------

def _colour(rng, low=0, high=255):
    return tuple(float(v) for v in rng.uniform(low, high, 3))


def _clouds(rng, low=3, high=48):
    """Smooth to rough random texture with values around 0, one channel."""
    total = np.zeros((SCENE, SCENE), np.float32)
    cells = low
    while cells <= high:
        layer = rng.standard_normal((cells, cells), np.float32)
        total += cv2.resize(layer, (SCENE, SCENE), interpolation=cv2.INTER_CUBIC) * np.float32(cells ** -0.5)
        cells *= 2
    return total / np.float32(max(1e-6, float(total.std())))


def _gradient(rng):
    top, bottom = np.array(_colour(rng)), np.array(_colour(rng))
    angle = rng.uniform(0, 2 * math.pi)
    axis = np.linspace(-0.7, 0.7, SCENE, dtype=np.float32)
    ramp = np.clip(axis[None, :] * math.cos(angle) + axis[:, None] * math.sin(angle) + 0.5, 0, 1)
    return (top + (bottom - top) * ramp[..., None]).astype(np.float32)


def _texture(rng):
    base = np.array(_colour(rng, 30, 220), np.float32)
    tint = np.array(_colour(rng, 0.3, 1.0), np.float32)
    return base + _clouds(rng)[..., None] * tint * rng.uniform(15, 55)


def _foliage(rng):
    scene = np.empty((SCENE, SCENE, 3), np.float32)
    scene[:] = (rng.uniform(10, 60), rng.uniform(40, 90), rng.uniform(10, 50))
    for _ in range(int(rng.integers(60, 140))):
        centre = tuple(int(v) for v in rng.integers(0, SCENE, 2))
        axes = tuple(int(v) for v in rng.integers(3, 22, 2))
        light = rng.uniform(0.4, 1.5)
        colour = (light * rng.uniform(40, 110), light * rng.uniform(80, 140), light * rng.uniform(15, 70))
        cv2.ellipse(scene, centre, axes, float(rng.uniform(0, 180)), 0, 360, colour, -1)
    return scene


def _bricks(rng):
    scene = np.empty((SCENE, SCENE, 3), np.float32)
    scene[:] = rng.uniform(110, 210)
    base = np.array(_colour(rng, 40, 200))
    height, width = int(rng.integers(8, 26)), int(rng.integers(20, 60))
    for row, y in enumerate(range(0, SCENE, height)):
        for x in range(-width if row % 2 == 0 else -width // 2, SCENE, width):
            colour = tuple(float(v) for v in base + rng.normal(0, 12))
            cv2.rectangle(scene, (x + 1, y + 1), (x + width - 2, y + height - 2), colour, -1)
    return scene


def _street(rng):
    """Sky, a row of houses with windows, and a road."""
    sky = _colour(rng, 120, 245)
    horizon = int(rng.uniform(0.45, 0.85) * SCENE)
    scene = np.empty((SCENE, SCENE, 3), np.float32)
    scene[:] = sky
    x = -int(rng.integers(0, 40))
    while x < SCENE:
        width = int(rng.integers(30, 90))
        roof = int(rng.uniform(0.05, 0.8) * horizon)
        cv2.rectangle(scene, (x, roof), (x + width, horizon), _colour(rng, 50, 210), -1)
        pane, glass = int(rng.integers(6, 14)), _colour(rng, 20, 120)
        for wy in range(roof + pane, horizon - pane, 2 * pane):
            for wx in range(x + pane, x + width - pane, 2 * pane):
                cv2.rectangle(scene, (wx, wy), (wx + pane, wy + pane), glass, -1)
        x += width
    scene[horizon:] = rng.uniform(60, 130)
    middle = SCENE * rng.uniform(0.2, 0.8)
    for lane in (-1.0, 0.0, 1.0):
        start = (int(middle), horizon)
        end = (int(middle + lane * SCENE * 0.7), SCENE)
        cv2.line(scene, start, end, (225.0, 225.0, 220.0), int(rng.integers(1, 5)), cv2.LINE_AA)
    return scene


BACKGROUNDS = (_gradient, _texture, _foliage, _bricks, _street)


def _add_clutter(scene, rng):
    """Poles, wires, boards and blobs, some of them in the colours of signs."""
    vivid = ((190.0, 30.0, 35.0), (25.0, 80.0, 165.0), (240.0, 240.0, 240.0), (245.0, 190.0, 20.0))
    for _ in range(int(rng.integers(0, 9))):
        colour = vivid[int(rng.integers(len(vivid)))] if rng.random() < 0.35 else _colour(rng)
        kind = rng.integers(4)
        x0, y0, x1, y1 = (int(v) for v in rng.integers(-20, SCENE + 20, 4))
        if kind == 0:
            cv2.line(scene, (x0, y0), (x1, y1), colour, int(rng.integers(1, 8)), cv2.LINE_AA)
        elif kind == 1:
            size = rng.integers(8, 60, 2)
            cv2.rectangle(scene, (x0, y0), (x0 + int(size[0]), y0 + int(size[1])), colour, -1)
        elif kind == 2:
            radius = int(rng.integers(5, 30))
            cv2.circle(scene, (x0, y0), radius, colour, -1 if rng.random() < 0.5 else 4, cv2.LINE_AA)
        else:
            corners = np.array([x0, y0]) + rng.integers(-35, 36, (int(rng.integers(3, 6)), 2))
            cv2.fillPoly(scene, [corners.astype(np.int32)], colour, cv2.LINE_AA)


# ---------------------------------------------------------------------------------------------
# The scene
# ---------------------------------------------------------------------------------------------

def _sign_corners(rng):
    """Where the four corners of the sign's canvas go in the scene (pixels), and the radius."""
    radius = 0.5 * SCENE * rng.uniform(0.32, 0.92)
    yaw, pitch = np.radians(rng.normal(0, 26)), np.radians(rng.normal(0, 13))
    roll = np.radians(np.clip(rng.normal(0, 8), -22, 22))
    yaw, pitch = np.clip(yaw, -1.05, 1.05), np.clip(pitch, -0.6, 0.6)
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    about_z = np.array([[math.cos(roll), -math.sin(roll), 0], [math.sin(roll), math.cos(roll), 0], [0, 0, 1]])
    about_y = np.array([[math.cos(yaw), 0, math.sin(yaw)], [0, 1, 0], [-math.sin(yaw), 0, math.cos(yaw)]])
    about_x = np.array([[1, 0, 0], [0, math.cos(pitch), -math.sin(pitch)], [0, math.sin(pitch), math.cos(pitch)]])
    turned = corners @ (about_x @ about_y @ about_z).T
    distance = rng.uniform(3.0, 7.0)
    flat = turned[:, :2] * (distance / (distance + turned[:, 2:]))
    slack = max(0.0, 0.5 * SCENE - radius) + 0.12 * radius
    centre = 0.5 * SCENE + rng.uniform(-slack, slack, 2)
    return (flat * radius + centre).astype(np.float32), centre, radius


def _place_sign(scene, sign, rng):
    """Draws the post and the sign; returns the scene, the sign's centre and its radius."""
    target, centre, radius = _sign_corners(rng)
    if rng.random() < 0.7:
        half = max(1, int(radius * rng.uniform(0.04, 0.09)))
        x, grey = int(centre[0]), rng.uniform(70, 190)
        cv2.rectangle(scene, (x - half, int(centre[1])), (x + half, SCENE), (grey, grey, grey), -1)
        cv2.rectangle(scene, (x - half, int(centre[1])), (x - half // 2, SCENE), (grey * 0.7,) * 3, -1)
    last = CANVAS - 1
    source = np.array([[0, 0], [last, 0], [last, last], [0, last]], np.float32)
    matrix = cv2.getPerspectiveTransform(source, target)
    rgb, alpha = sign.rgb, sign.alpha
    if radius < 0.4 * SCENE:  # keep the warp from skipping pixels
        sigma = 0.45 * CANVAS / (2 * radius)
        rgb, alpha = cv2.GaussianBlur(rgb, (0, 0), sigma), cv2.GaussianBlur(alpha, (0, 0), sigma)
    rgb = cv2.warpPerspective(rgb, matrix, (SCENE, SCENE), flags=cv2.INTER_LINEAR,
                              borderMode=cv2.BORDER_REPLICATE).astype(np.float32)
    alpha = cv2.warpPerspective(alpha, matrix, (SCENE, SCENE), flags=cv2.INTER_LINEAR)
    alpha = alpha.astype(np.float32)[..., None] / 255.0
    # Dirt and uneven light on the plate.
    rgb = rgb * (rng.uniform(0.55, 1.05) + _clouds(rng, 2, 8)[..., None] * rng.uniform(0.0, 0.13))
    return scene * (1.0 - alpha) + rgb * alpha, centre, radius


def _occlude(scene, centre, radius, rng):
    """Covers a part of the sign: a slab from the side, twigs, or stickers."""
    kind = rng.integers(3)
    if kind == 0:
        angle = rng.uniform(0, 2 * math.pi)
        along = np.array([math.cos(angle), math.sin(angle)])
        side = np.array([-along[1], along[0]])
        near = centre + along * radius * rng.uniform(0.2, 0.85)
        corners = [near + side * 2 * radius, near - side * 2 * radius,
                   near - side * 2 * radius + along * radius * rng.uniform(0.3, 1.2),
                   near + side * 2 * radius + along * radius * rng.uniform(0.3, 1.2)]
        cv2.fillPoly(scene, [np.round(corners).astype(np.int32)], _colour(rng, 10, 220), cv2.LINE_AA)
    elif kind == 1:
        colour = (rng.uniform(20, 70), rng.uniform(40, 110), rng.uniform(15, 50))
        for _ in range(int(rng.integers(2, 6))):
            ends = centre + rng.uniform(-1.6, 1.6, (2, 2)) * radius
            ends = np.round(ends).astype(int)
            cv2.line(scene, tuple(int(v) for v in ends[0]), tuple(int(v) for v in ends[1]), colour,
                     int(max(1, radius * rng.uniform(0.03, 0.12))), cv2.LINE_AA)
            for t in rng.uniform(0, 1, 5):
                leaf = ends[0] + (ends[1] - ends[0]) * t + rng.normal(0, 0.07, 2) * radius
                axes = tuple(int(max(1, v)) for v in radius * rng.uniform(0.04, 0.17, 2))
                cv2.ellipse(scene, tuple(int(v) for v in leaf), axes, float(rng.uniform(0, 180)),
                            0, 360, tuple(v * rng.uniform(0.7, 1.5) for v in colour), -1)
    else:
        for _ in range(int(rng.integers(1, 4))):
            middle = centre + rng.uniform(-0.7, 0.7, 2) * radius
            size = radius * rng.uniform(0.12, 0.45, 2)
            box = cv2.boxPoints((tuple(float(v) for v in middle), tuple(float(v) for v in size),
                                 float(rng.uniform(0, 90))))
            cv2.fillPoly(scene, [np.round(box).astype(np.int32)], _colour(rng), cv2.LINE_AA)
    return scene


def _shadow(scene, rng):
    """Darkens a random polygon with a soft edge."""
    mask = np.ones((SCENE, SCENE), np.float32)
    corners = rng.integers(-40, SCENE + 40, (int(rng.integers(3, 6)), 2)).astype(np.int32)
    cv2.fillPoly(mask, [cv2.convexHull(corners)], float(rng.uniform(0.3, 0.7)), cv2.LINE_AA)
    return scene * cv2.GaussianBlur(mask, (0, 0), rng.uniform(0.8, 5.0))[..., None]


def _glare(scene, centre, radius, rng):
    """Adds a bright spot near the sign."""
    x, y = centre + rng.uniform(-1.0, 1.0, 2) * radius
    wide, high = radius * rng.uniform(0.25, 0.9, 2)
    axis = np.arange(SCENE, dtype=np.float32)
    spot = np.exp(-0.5 * (((axis[None, :] - x) / wide) ** 2 + ((axis[:, None] - y) / high) ** 2))
    return scene + spot[..., None] * rng.uniform(80, 200)


def _motion_blur(scene, rng):
    """Blurs along a random direction."""
    length = int(rng.integers(3, 14)) | 1
    kernel = np.zeros((length, length), np.float32)
    angle, middle = rng.uniform(0, math.pi), length // 2
    reach = np.array([math.cos(angle), math.sin(angle)]) * middle
    start, end = np.round(middle - reach).astype(int), np.round(middle + reach).astype(int)
    cv2.line(kernel, tuple(int(v) for v in start), tuple(int(v) for v in end), 1.0)
    return cv2.filter2D(scene, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT)


def _light(scene, rng):
    """Exposure, contrast, fog and colour cast."""
    scene = np.clip(scene, 0, 255) / 255.0
    scene = cv2.pow(scene, math.exp(rng.normal(0, 0.3)))
    if rng.random() < 0.25:
        fog = rng.uniform(0.15, 0.6)
        scene = scene * (1 - fog) + fog * rng.uniform(0.45, 0.95)
    cast = np.exp(rng.normal(0, 0.13, 3)).astype(np.float32)
    gain = rng.uniform(0.4, 0.7) if rng.random() < 0.2 else rng.uniform(0.75, 1.15)
    return scene * cast * np.float32(gain) * 255.0


def _sensor(picture, rng):
    """Noise of the sensor and, now and then, JPEG artefacts."""
    noise = rng.standard_normal(picture.shape, np.float32)
    level = rng.uniform(1, 7) if rng.random() < 0.7 else rng.uniform(7, 22)
    picture = picture + noise * level * np.sqrt(0.3 + np.clip(picture, 0, 255) / 180.0)
    picture = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        quality = int(rng.integers(25, 80))
        _, data = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
        picture = cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1]
    return np.ascontiguousarray(picture)


def class_of(seed, index):
    """Class number of picture `index`: each run of len(CLASSES) pictures has every class once."""
    block, place = divmod(index, len(CLASSES))
    return int(np.random.default_rng([seed, 0, block]).permutation(len(CLASSES))[place])


def render(seed, index):
    """Renders picture `index` of `seed`; returns (RGB uint8 array [SIZE, SIZE, 3], class number)."""
    label = class_of(seed, index)
    rng = np.random.default_rng([seed, 1, index])
    scene = BACKGROUNDS[int(rng.integers(len(BACKGROUNDS)))](rng)
    if rng.random() < 0.5:
        scene = scene + _clouds(rng, 6, 96)[..., None] * rng.uniform(3, 16)
    scene = np.ascontiguousarray(scene, np.float32)
    _add_clutter(scene, rng)
    scene, centre, radius = _place_sign(scene, paint_sign(CLASSES[label], rng), rng)
    scene = np.ascontiguousarray(scene, np.float32)
    if rng.random() < 0.33:
        scene = _occlude(scene, centre, radius, rng)
    if rng.random() < 0.40:
        scene = _shadow(scene, rng)
    if rng.random() < 0.25:
        scene = _glare(scene, centre, radius, rng)
    scene = _light(scene, rng)
    if rng.random() < 0.40:
        scene = _motion_blur(scene, rng)
    if rng.random() < 0.50:
        scene = cv2.GaussianBlur(scene, (0, 0), rng.uniform(0.6, 2.3))
    picture = cv2.resize(scene.astype(np.float32), (SIZE, SIZE), interpolation=cv2.INTER_AREA)
    return _sensor(picture, rng), label


def _render_pair(pair):
    return render(*pair)


def render_many(seed, count, jobs=1):
    """Renders pictures 0..count-1; returns (uint8 [count, SIZE, SIZE, 3], int64 [count])."""
    pictures = np.empty((count, SIZE, SIZE, 3), np.uint8)
    labels = np.empty(count, np.int64)
    pairs = ((seed, index) for index in range(count))
    if jobs > 1:
        with multiprocessing.Pool(jobs) as pool:
            for index, (picture, label) in enumerate(pool.imap(_render_pair, pairs, 64)):
                pictures[index], labels[index] = picture, label
    else:
        for index, (picture, label) in enumerate(map(_render_pair, pairs)):
            pictures[index], labels[index] = picture, label
    return pictures, labels


# ---------------------------------------------------------------------------------------------
# Command line
# ---------------------------------------------------------------------------------------------

ENCODERS = {
    "jpg": [cv2.IMWRITE_JPEG_QUALITY, 90],
    "png": [cv2.IMWRITE_PNG_COMPRESSION, 9],
}


def encode(picture, picture_format):
    """The bytes of the picture file; `picture_format` is a key of ENCODERS."""
    _, data = cv2.imencode("." + picture_format, picture[..., ::-1], ENCODERS[picture_format])
    return data.tobytes()


def decode(data):
    """The RGB picture in the bytes of a picture file."""
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return np.ascontiguousarray(picture[..., ::-1])


def write_pictures(folder, count, seed, picture_format="jpg", labelled=True, jobs=1):
    """Writes pictures 0..count-1 of `seed` and, if `labelled`, labels.csv into `folder`."""
    os.makedirs(folder, exist_ok=True)
    pictures, labels = render_many(seed, count, jobs)
    digits = max(4, len(str(count - 1)))
    names = [f"{index:0{digits}d}.{picture_format}" for index in range(count)]
    for name, picture in zip(names, pictures):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(encode(picture, picture_format))
    if labelled:
        with open(os.path.join(folder, "labels.csv"), "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["file", "class"])
            table.writerows((name, CLASSES[label]) for name, label in zip(names, labels))


def _number(low, high):
    """An argparse type: a whole number from `low` to `high`."""
    def parse(text):
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value} is not in {low}..{high}")
        return value
    return parse


def main(arguments=None):
    """Entry point of the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Renders road-sign pictures and labels.csv.")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the pictures, made if missing")
    parser.add_argument("--count", required=True, type=_number(1, 10_000_000), metavar="N", help="how many pictures")
    parser.add_argument("--seed", required=True, type=_number(0, 2**32 - 1), metavar="S",
                        help="same seed, same pictures")
    parser.add_argument("--format", choices=sorted(ENCODERS), default="jpg", help="picture format (default: jpg)")
    parser.add_argument("--no-labels", action="store_true", help="write no labels.csv")
    parser.add_argument("--jobs", type=_number(1, 256), default=1, metavar="J", help="processes (default: 1)")
    options = parser.parse_args(arguments)
    try:
        write_pictures(options.out, options.count, options.seed, options.format,
                       not options.no_labels, options.jobs)
    except OSError as error:
        print(f"generate.py: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

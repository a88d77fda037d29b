#!/usr/bin/env python3
"""Writes the matrices of the elastic block for a mesh of any size: mass.mtx, stiffness.mtx and load.csv.

    python3 matrices.py                   the mesh of this folder: 17 x 8 elements, 306 coordinates
    python3 matrices.py 100 49 FOLDER     100 x 49 elements, 10,000 coordinates, into FOLDER, with a model.toml for them

Four-node elements in plane strain, integrated with 2 x 2 points; consistent mass. Nodes are numbered upwards, column by column, from the first
column behind the clamped side; node k has the coordinates u[2k - 1] to the right and u[2k] upwards.
"""
import os
import re
import sys

LENGTH, HEIGHT = 2.0, 1.0  # m; one metre thick
YOUNG, POISSON, DENSITY = 1e6, 0.3, 1000.0  # Pa, -, kg/m3
PRESSURE, PULL = 2e4, 1e4  # Pa: down on the top side, to the right on the right side


def element(width, height):
    """Stiffness and mass of one element; nodes counter-clockwise from the lower left."""
    factor = YOUNG / ((1 + POISSON) * (1 - 2 * POISSON))
    direct, cross, shear = factor * (1 - POISSON), factor * POISSON, factor * (1 - 2 * POISSON) / 2
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    stiffness = [[0.0] * 8 for _ in range(8)]
    mass = [[0.0] * 8 for _ in range(8)]
    area = width * height / 4
    point = 3**-0.5
    for a in (-point, point):
        for b in (-point, point):
            shape = [(1 + a * i) * (1 + b * j) / 4 for i, j in corners]
            dx = [i * (1 + b * j) / 4 * 2 / width for i, j in corners]
            dy = [j * (1 + a * i) / 4 * 2 / height for i, j in corners]
            for m in range(4):
                for n in range(4):
                    stiffness[2 * m][2 * n] += area * (direct * dx[m] * dx[n] + shear * dy[m] * dy[n])
                    stiffness[2 * m][2 * n + 1] += area * (cross * dx[m] * dy[n] + shear * dy[m] * dx[n])
                    stiffness[2 * m + 1][2 * n] += area * (cross * dy[m] * dx[n] + shear * dx[m] * dy[n])
                    stiffness[2 * m + 1][2 * n + 1] += area * (direct * dy[m] * dy[n] + shear * dx[m] * dx[n])
                    for c in range(2):
                        mass[2 * m + c][2 * n + c] += area * DENSITY * shape[m] * shape[n]
    return stiffness, mass


def assemble(columns, rows):
    """Entries of the lower triangles by place, and the load."""
    width, height = LENGTH / columns, HEIGHT / rows
    own = element(width, height)
    per_column = 2 * (rows + 1)
    size = columns * per_column
    matrices = ({}, {})
    for i in range(columns):
        for j in range(rows):
            nodes = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            places = [(x - 1) * per_column + 2 * y + c if x > 0 else -1 for x, y in nodes for c in range(2)]
            for m, row in enumerate(places):
                for n, column in enumerate(places):
                    if row < 0 or column < 0 or column > row:
                        continue
                    for matrix, part in zip(matrices, own):
                        if part[m][n] != 0:
                            matrix[row, column] = matrix.get((row, column), 0.0) + part[m][n]
    load = [0.0] * size
    for i in range(1, columns + 1):
        share = width if i < columns else width / 2
        load[(i - 1) * per_column + 2 * rows + 1] -= PRESSURE * share
    for j in range(rows + 1):
        share = height if 0 < j < rows else height / 2
        load[(columns - 1) * per_column + 2 * j] += PULL * share
    return size, matrices, load


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".part", "w", encoding="ascii", newline="\n") as out:
        out.write(text)
    os.replace(path + ".part", path)


def main(arguments):
    columns, rows = (int(arguments[0]), int(arguments[1])) if len(arguments) > 1 else (17, 8)
    own = os.path.dirname(os.path.abspath(__file__))
    folder = arguments[2] if len(arguments) > 2 else own
    if columns < 1 or rows < 1:
        sys.exit("the numbers of elements must be positive")
    os.makedirs(folder, exist_ok=True)
    size, (stiffness, mass), load = assemble(columns, rows)
    for name, matrix in (("stiffness.mtx", stiffness), ("mass.mtx", mass)):
        lines = ["%%MatrixMarket matrix coordinate real symmetric", f"{size} {size} {len(matrix)}"]
        lines += [f"{i + 1} {j + 1} {value:.17g}" for (i, j), value in sorted(matrix.items())]
        write(folder, name, "\n".join(lines) + "\n")
    if not os.path.exists(folder) or not os.path.samefile(folder, own):
        with open(os.path.join(own, "model.toml"), encoding="utf-8") as model:
            text = model.read()
        # The same model with the numbers of this mesh; the reactions that it shows are those in the middle of the floor.
        text = re.sub(r"(?m)^columns = \d+ ", f"columns = {columns} ", text)
        text = re.sub(r"(?m)^rows    = \d+ ", f"rows    = {rows + 1} ", text)
        text = text.replace("floor[9]", f"floor[{columns // 2 + 1}]")
        write(folder, "model.toml", text)
    write(folder, "load.csv", "\n".join(f"{value:.17g}" for value in load) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Packs the package as a wheel: make_wheel.py PACKAGE GALLERY OUTPUT VERSION

PACKAGE is the folder `judder` that the build has put together; the bundled models go into it. The wheel is for the interpreter that runs this. Equal files
give equal bytes. https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""
import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile


def tag():
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{version}-{version}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def metadata(version):
    return (
        f"Metadata-Version: 2.1\nName: judder\nVersion: {version}\nSummary: Mechanical systems that hit, slip, stick and jam\n"
        f"License: Apache-2.0\nRequires-Python: >={sys.version_info.major}.{sys.version_info.minor}\n"
        "Requires-Dist: numpy<2\nProvides-Extra: plot\nRequires-Dist: matplotlib; extra == 'plot'\n"
    )


def main(package, gallery, output, version):
    files = {}
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[f"judder/{path.relative_to(package).as_posix()}"] = path.read_bytes()
    for path in sorted(gallery.rglob("*")):
        if path.is_file() and path.suffix != ".tmp":
            files[f"judder/gallery/{path.relative_to(gallery).as_posix()}"] = path.read_bytes()
    about = f"judder-{version}.dist-info"
    files[f"{about}/METADATA"] = metadata(version).encode()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: judder\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    wheel = output / f"judder-{version}-{tag()}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    print(wheel)


if __name__ == "__main__":
    main(*[pathlib.Path(each) for each in sys.argv[1:4]], sys.argv[4])

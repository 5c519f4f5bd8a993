"""How lit runs Napkin's tests.

%python, %root (the repository), %bin (napkin, napkin-opt) and %unit (C++ test programs) are the
substitutions beside lit's own. `lit --param plain=1` keeps the tests of the rooms without MLIR.
"""
import ctypes
import ctypes.util
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "house"))
import lit_format

plain = set(config.plain_tests) if lit_config.params.get("plain") else None
config.name = "napkin"
config.test_format = lit_format.NapkinTest(plain)
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".mlir", ".nap", ".test"]
config.excludes = ["Inputs"]

# lit hands on few variables; these would change what a test sees.
for name in list(config.environment):
    if re.match(r"NAPKIN_|OPENBLAS_|OMP_|MKL_|XDG_", name):
        del config.environment[name]
config.environment["PATH"] = os.pathsep.join(
    [config.bin_dir, config.unit_dir, config.llvm_bin_dir, os.environ["PATH"]])
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=all"

config.substitutions += [
    ("%python", sys.executable),
    ("%root", os.path.dirname(config.test_source_root)),
    ("%bin", config.bin_dir),
    ("%unit", config.unit_dir),
    ("%build", config.build_dir),
]
if plain is None:
    # Sanitizers bring their own malloc and cannot share it.
    config.available_features.add("uninstrumented")
if lit_config.params.get("long") == "1":  # tools/test --long
    config.available_features.add("long")
# A test that hangs is one failed test; psutil ends the processes that it started.
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 3600 if "long" in config.available_features else 1200
# NVRTC is sought as runtime/cuda/Nvrtc.cpp does: in CUDA_HOME, where the toolkit installs itself, where the loader looks.
if "CUDA_HOME" in os.environ:
    config.environment["CUDA_HOME"] = os.environ["CUDA_HOME"]
for library in (folder + name
                for folder in ([os.environ["CUDA_HOME"] + "/lib64/"] if "CUDA_HOME" in os.environ else []) +
                ["/usr/local/cuda/lib64/", ""]
                for name in ("libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12")):
    try:
        ctypes.CDLL(library)
    except OSError:
        continue
    config.available_features.add("nvrtc")
    break
# NVIDIA's library for products and its header, sought where runtime/cuda/products/CublasLt.cpp seeks them.
cuda_homes = [os.environ["CUDA_HOME"]] if "CUDA_HOME" in os.environ else []
for home in cuda_homes + ["/usr/local/cuda"]:
    if os.path.exists(home + "/include/cublasLt.h"):
        config.available_features.add("cublaslt-header")
        config.substitutions.append(("%cuda_include", home + "/include"))
        break
if ctypes.util.find_library("cublasLt") or any(
        os.path.exists(f"{home}/lib64/libcublasLt.so{version}")
        for home in cuda_homes + ["/usr/local/cuda"] for version in ("", ".13", ".12")):
    config.available_features.add("cublaslt")
if plain is None and os.environ.get("NAPKIN_REQUIRE_NVRTC") and "nvrtc" not in config.available_features:
    lit_config.fatal("NVRTC was not found, and NAPKIN_REQUIRE_NVRTC is set; install CUDA 12 or 13, or set CUDA_HOME")
# avx512_bf16 and amx_bf16 as Linux calls them; tests of units that the processor lacks are skipped.
try:
    with open("/proc/cpuinfo") as file:
        flags = next((line for line in file if line.startswith("flags")), "")
    config.available_features.update({"avx512_bf16", "amx_bf16"} & set(flags.split()))
except OSError:
    pass
# Built only where coinor-libcbc-dev is installed.
if os.path.exists(os.path.join(config.unit_dir, "ilp-test")):
    config.available_features.add("cbc")
# scipy brings HiGHS; Debian's Python may have it where the one that runs the tests has not.
for python in (sys.executable, "/usr/bin/python3"):
    if subprocess.run([python, "-c", "from scipy.optimize import milp"], capture_output=True).returncode == 0:
        config.available_features.add("scipy")
        config.substitutions.append(("%scipy_python", python))
        break
# A browser without a window.
browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
if browser:
    config.available_features.add("chromium")
    config.substitutions.append(("%chromium", browser))
if shutil.which("nvidia-smi"):
    config.available_features.add("gpu")
if subprocess.run("unshare -r true", shell=True, stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("user-namespaces")

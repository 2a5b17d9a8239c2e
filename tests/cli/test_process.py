"""Is the command line a good process: quiet when nobody reads, and telling that it was interrupted?"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reme_graphs.cli import app
from tests.support.children import run_python

RUN = "import sys\nfrom reme_graphs import service\nservice.DEFAULT_PORT = 9\nfrom reme_graphs.cli.app import main\n"


def test_nobody_reading_is_no_error(tmp_path: Path) -> None:
    code = RUN + "import os\nread, write = os.pipe()\nos.close(read)\nos.dup2(write, 1)\nsys.exit(main(sys.argv[1:]))"
    done = run_python(code, "help", "search")
    assert (done.returncode, done.stderr) == (app.PIPE_CLOSED, "")


@pytest.mark.skipif(sys.platform == "win32", reason="the signals are those of POSIX systems")
def test_an_interrupted_command_says_so_by_its_code(tmp_path: Path) -> None:
    """Standard input stays open, so the command waits for it until it is interrupted."""
    code = RUN + "print('ready', flush=True)\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "frontmatter_update", "path=a.md", "metadata=@-"]
    environment = {**os.environ, "PYTHONPATH": str(Path(app.__file__).parents[2])}
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True, env=environment) as child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == app.INTERRUPTED
        assert child.stderr.read() == ""


def test_output_in_another_encoding_is_no_error(tmp_path: Path) -> None:
    code = "import os, sys\nos.environ['PYTHONIOENCODING'] = 'ascii'\n" + RUN
    code += "sys.stdout.reconfigure(encoding='ascii')\nsys.exit(main(sys.argv[1:]))"
    done = run_python(code, "write", "path=digest/wiki/番茄.md", "content=x", f"--workspace={tmp_path / 'w'}")
    assert done.returncode == app.DONE and "\\u756a" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["completion", shell]) == app.DONE
    assert f"_REME_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        ("reme ", "sear", "search"),
        ("reme search ", "li", "limit="),
        ("reme read ", "path=digest/wi", "path=digest/wiki/"),
        ("reme read path = ", "digest/wi", "digest/wiki/"),
    ],
)
def test_names_keys_and_paths_are_completed(
    words: str,
    begun: str,
    offered: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "digest/wiki").mkdir(parents=True)
    monkeypatch.setenv("REME_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("_REME_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words + begun)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    assert app.main([]) == app.DONE
    assert f"plain,{offered}" in capsys.readouterr().out.splitlines()

"""The site of the manual: Sphinx reads the tree that stage.py has put together."""
import os
import pathlib

project = "Judder"
version = release = os.environ.get("JUDDER_VERSION", "")
copyright = "the authors of Judder"  # pylint: disable=redefined-builtin
language = "en"

extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
smartquotes = False  # x' and "…" are part of the language

# Blocks of these kinds are shown as they are: the highlighter knows neither expressions nor transcripts with an ellipsis.
highlight_language = "none"
pygments_style = "tango"
pygments_dark_style = "monokai"

html_theme = "furo"
html_title = "Judder " + version
html_static_path = [str(pathlib.Path(__file__).parent / "static")]
html_css_files = ["judder.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

"""What a notebook shows, and figures."""
import html.parser
import sys
import unittest
import xml.etree.ElementTree as Tree

import judder
from support import BALL, GALLERY

HOSTILE = "<script>alert('x')</script> & \\\"more\\\""


class Balanced(html.parser.HTMLParser):
    """Every element of the page, and whether each ends."""

    def __init__(self, text):
        super().__init__()
        self.open, self.names = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag


class Notebooks(unittest.TestCase):
    def test_a_run_shows_its_figure_and_its_events(self):
        page = judder.Model.from_text(BALL).run()._repr_html_()
        parsed = Balanced(page)
        self.assertEqual(parsed.open, [])
        self.assertIn("svg", parsed.names)
        self.assertGreater(parsed.names.count("tr"), 3)

    def test_texts_of_a_model_are_no_markup(self):
        text = BALL.replace('"A ball"', f'"{HOSTILE}"')
        model = judder.Model.from_text(text)
        for page in (model.run()._repr_html_(), model._repr_html_(), model.compare(["event"])._repr_html_()):
            self.assertNotIn("script", Balanced(page).names)
        self.assertIn("&lt;script&gt;", model._repr_html_())

    def test_a_run_without_rows_has_a_page(self):
        run = judder.Model.from_text(BALL).run(keep_rows=False)
        self.assertIn("done", run._repr_html_())

    def test_figures_are_those_that_the_model_asks_for(self):
        run = judder.load(GALLERY / "press" / "model.toml").run(until=0.5)
        names = [figure.name for figure in run.figures()]
        self.assertEqual(names, [f"plot-{i + 1}" for i in range(len(names))])
        for figure in run.figures(("t", "xi'"), ("eta", "eta'")):
            Tree.fromstring(figure.svg())
        with self.assertRaisesRegex(KeyError, "speed"):
            run.figures(("t", "speed"))

    def test_drawn_curves_are_the_columns_with_a_gap_at_jumps(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed")
        import numpy as np
        from matplotlib import pyplot

        run = judder.Model.from_text(BALL).run()
        drawn = run.plot(("t", "h'"))
        curve = drawn.axes[0].lines[0]
        x, y = curve.get_xdata(), curve.get_ydata()
        there = ~np.isnan(y)
        np.testing.assert_array_equal(x[there], run.t)
        np.testing.assert_array_equal(y[there], run["h'"])
        # A gap between the two limits at every impact.
        self.assertGreaterEqual(int(np.isnan(y).sum()), 3)
        law = judder.load(GALLERY / "belt" / "model.toml").plot_law()
        self.assertGreater(len(law.axes[0].lines), 0)
        pyplot.close("all")

    def test_without_matplotlib_plot_says_what_is_missing(self):
        run = judder.Model.from_text(BALL).run()
        kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "matplotlib"}
        sys.modules["matplotlib"] = None
        try:
            with self.assertRaisesRegex(ImportError, "python3-matplotlib"):
                run.plot(("t", "h"))
        finally:
            del sys.modules["matplotlib"]
            sys.modules.update(kept)


if __name__ == "__main__":
    unittest.main()

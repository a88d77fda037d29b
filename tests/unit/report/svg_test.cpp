#include "judder/report/svg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "count.hpp"
#include "report/layout.hpp"
#include "report/svg_text.hpp"
#include "report/thin.hpp"
#include "xml.hpp"

namespace judder::report {
namespace {

Element parse(const std::string& svg) {
  auto root = XmlReader::read(svg);
  EXPECT_TRUE(root.has_value()) << svg.substr(0, 2000);
  return root.value_or(Element{});
}

std::vector<Point> points_of(const Element& polyline) {
  std::vector<Point> out;
  std::istringstream in(polyline.attribute("points"));
  Point p;
  char comma = 0;
  while (in >> p.x >> comma >> p.y) out.push_back(p);
  return out;
}

Figure one_panel(Series series) {
  Figure figure;
  figure.title = "A title";
  figure.panels.emplace_back();
  figure.panels[0].x.label = "t";
  figure.panels[0].y.label = "y";
  figure.panels[0].series.push_back(std::move(series));
  return figure;
}

Series sine(int size) {
  Series series;
  for (int i = 0; i < size; ++i) {
    series.x.push_back(0.01 * i);
    series.y.push_back(std::sin(0.1 * i));
  }
  return series;
}

void expect_inside(const Element& root, const PanelLayout& panel) {
  for (const Element* line : root.all("polyline")) {
    for (const Point& p : points_of(*line)) {
      ASSERT_GE(p.x, panel.left - 0.01);
      ASSERT_LE(p.x, panel.right + 0.01);
      ASSERT_GE(p.y, panel.top - 0.01);
      ASSERT_LE(p.y, panel.bottom + 0.01);
    }
  }
}

TEST(Svg, DrawsACurveInsideItsPanelWithLabelledAxes) {
  const Figure figure = one_panel(sine(300));
  const Element root = parse(to_svg(figure));
  EXPECT_EQ(root.name, "svg");
  EXPECT_EQ(root.attribute("xmlns"), "http://www.w3.org/2000/svg");
  ASSERT_EQ(root.all("polyline").size(), 1U);
  const PanelLayout panel = layout_of(figure).panels.at(0);
  expect_inside(root, panel);

  std::vector<double> ticks;
  ASSERT_EQ(root.all("g", "x-ticks").size(), 1U);
  for (const Element* text : root.all("g", "x-ticks")[0]->all("text")) ticks.push_back(text->number("x"));
  ASSERT_GE(ticks.size(), 3U);
  EXPECT_TRUE(std::is_sorted(ticks.begin(), ticks.end()));
  std::vector<double> heights;
  for (const Element* text : root.all("g", "y-ticks")[0]->all("text")) heights.push_back(text->number("y"));
  ASSERT_GE(heights.size(), 3U);
  EXPECT_TRUE(std::is_sorted(heights.rbegin(), heights.rend()));

  std::vector<std::string> words;
  for (const Element* text : root.all("text")) words.push_back(text->text);
  for (const char* word : {"A title", "t", "y"})
    EXPECT_EQ(std::count(words.begin(), words.end(), word), 1) << word;
}

TEST(Svg, AJumpIsALinkOfItsOwnAndNotASlope) {
  Series series;
  series.x = {0, 1, 1, 2, 2, 3};
  series.y = {0, 1, -1, 0, 0, 1};
  series.jumps = {2, 4};  // the second is no jump of this column: the limits agree
  const Element root = parse(to_svg(one_panel(series)));
  EXPECT_EQ(root.all("polyline").size(), 2U);
  ASSERT_EQ(root.all("path", "jumps").size(), 1U);
  const std::string link = root.all("path", "jumps")[0]->attribute("d");
  EXPECT_EQ(std::count(link.begin(), link.end(), 'M'), 1);
  for (const Element* line : root.all("polyline")) {
    const auto points = points_of(*line);
    for (std::size_t i = 1; i < points.size(); ++i)
      EXPECT_GT(points[i].x, points[i - 1].x) << "a vertical piece";
  }
}

TEST(Svg, ValuesThatAreNotFiniteAreGaps) {
  Series series;
  series.x = {0, 1, 2, 3, 4, 5, 6};
  series.y = {0, 1, std::nan(""), 1, INFINITY, 1, 2};
  const Element root = parse(to_svg(one_panel(series)));
  EXPECT_EQ(root.all("polyline").size(), 3U) << "two lines and a dot between two gaps";
}

TEST(Svg, MoreJumpsThanPixelsStayOneLine) {
  Series series;
  for (std::size_t i = 0; i < 100'000; ++i) {
    series.x.push_back(static_cast<double>(i / 2));
    series.y.push_back(i % 2 == 0 ? 1 : -1);
    if (i % 2 == 1) series.jumps.push_back(i);
  }
  const std::string svg = to_svg(one_panel(series));
  EXPECT_EQ(parse(svg).all("polyline").size(), 1U);
  EXPECT_LT(svg.size(), 100'000U);
}

TEST(Svg, AMillionPointsMakeASmallFileThatKeepsTheHighestPoint) {
  Series series;
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 1'000'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(normal(random));
  }
  series.y[654'321] = 20;
  Figure figure = one_panel(series);
  const std::string svg = to_svg(figure);
  EXPECT_LT(svg.size(), 150'000U);
  const Element root = parse(svg);
  const PanelLayout panel = layout_of(figure).panels[0];
  const double highest = Scale(panel.y, false, panel.bottom, panel.top)(20);
  bool found = false;
  for (const Point& p : points_of(*root.all("polyline").at(0)))
    found = found || std::abs(p.y - highest) < 0.01;
  EXPECT_TRUE(found);
}

TEST(Svg, AnyTextStaysText) {
  const std::string hostile = "a<b & \"c\" 'd' </text><script>\x01\xFF\xC3\x28 é − ü";
  Figure figure = one_panel(sine(20));
  figure.title = hostile;
  figure.subtitle = hostile;
  Panel& panel = figure.panels[0];
  panel.x.label = panel.y.label = panel.series[0].label = hostile;
  panel.mark_kinds = {{hostile, Symbol::circle}};
  panel.marks = {{0, 0.05, std::nan(""), hostile}, {0, 0.05, 0.5, hostile}};
  const Element root = parse(to_svg(figure));
  EXPECT_TRUE(root.all("script").empty());
  int seen = 0;
  for (const Element* text : root.all("text"))
    seen += text->text.starts_with("a<b & \"c\" 'd' </text><script>") ? 1 : 0;
  EXPECT_EQ(seen, 7) << "title, subtitle, two axes, series, lane, mark";
}

// Ends of lines and marks of direction are no part of a line of text, and a name of any length has an end.
TEST(Svg, TitlesAreOneLineOfBoundedLength) {
  Figure figure = one_panel(sine(20));
  figure.title = "a\r\nb\u2028c\u202ed\u009be" + std::string(100000, 'x');
  figure.panels[0].y.label = figure.title;
  const std::string svg = to_svg(figure);
  EXPECT_LT(svg.size(), 20000U);
  for (const char* raw : {"\r", "\u2028", "\u202e", "\u009b"}) EXPECT_EQ(svg.find(raw), std::string::npos);
  const Element root = parse(svg);
  EXPECT_TRUE(root.all("title").front()->text.starts_with("a\\x0d\\x0ab\\u2028c"));
}

TEST(Svg, LongTextEndsInAnEllipsisInsideThePicture) {
  EXPECT_EQ(fitted("short", 12, 100), "short");
  const std::string cut = fitted("Many words, more than there is room for", 12, 100);
  EXPECT_TRUE(cut.starts_with("Many words") && cut.ends_with("…")) << cut;
  EXPECT_LE(text_width(cut, 12), 100);
  EXPECT_EQ(fitted("ééééé", 10, 30), "éé…") << "characters are not cut";
  Figure figure = one_panel(sine(20));
  figure.title =
      "A slab that runs onto a driven roller on springs, from a guide that lies too low for it, with all its "
      "impacts";
  figure.subtitle = figure.title + ", " + figure.title;
  figure.panels[0].series[0].label = figure.subtitle;
  figure.panels[0].x.label = figure.subtitle;
  const Element root = parse(to_svg(figure));
  int cut_lines = 0;
  std::string words;
  for (const Element* text : root.all("text")) {
    words += text->text + " ";
    const double size = std::stod(text->attribute("font-size"));
    EXPECT_LE(text_width(text->text, size), 720 - 28) << text->text;
    cut_lines += text->text.ends_with("…") ? 1 : 0;
  }
  EXPECT_EQ(cut_lines, 2) << "legend, abscissa";
  EXPECT_NE(words.find(figure.title + " " + figure.subtitle), std::string::npos)
      << "title and subtitle go on in further lines: " << words;
  EXPECT_EQ(wrapped("", 12, 100, 3), std::vector<std::string>());
  EXPECT_EQ(wrapped("one two three", 12, 200, 3), std::vector<std::string>{"one two three"});
  const std::vector<std::string> lines = wrapped("one two three four five six seven eight", 12, 60, 3);
  ASSERT_EQ(lines.size(), 3U);
  for (const std::string& line : lines) EXPECT_LE(text_width(line, 12), 60) << line;
  EXPECT_TRUE(lines.front().starts_with("one") && lines.back().ends_with("…")) << lines.back();
  EXPECT_EQ(wrapped("onewordthatistoolongforthewidth b", 12, 60, 3).back(), "b");
}

// The title in the widest of the fonts that the figure names, DejaVu Sans Bold: its advances in thousandths.
TEST(Svg, ALongTitleEndsInsideThePictureInEveryFont) {
  constexpr std::array<int, 26> kBold = {675, 716, 593, 716, 679, 436, 716, 712, 343, 343, 666, 343, 1042,
                                         712, 688, 716, 716, 494, 596, 479, 712, 652, 924, 646, 652, 583};
  for (const char* words :
       {"a very long title that goes on and on ", "free stiff surfer of free surf ", "mmmm wwww "}) {
    Figure figure = one_panel(sine(20));
    for (int i = 0; i < 30; ++i) figure.title += words;
    const Element root = parse(to_svg(figure));
    bool ends = false;
    for (const Element* text : root.all("text")) {
      if (text->attribute("font-weight") != "600") continue;
      const std::string& line = text->text;
      const double size = std::stod(text->attribute("font-size"));
      ends = line.ends_with("…");
      double width = ends ? 1 : 0;
      for (const char c : line) width += c == ' ' ? 0.348 : c >= 'a' && c <= 'z' ? 0.001 * kBold[c - 'a'] : 0;
      const double left = std::stod(text->attribute("x"));
      EXPECT_LE(left + size * width, 720) << line;
      if (ends) {
        EXPECT_GE(left + size * width, 480) << "no more is cut than must be: " << line;
      }
    }
    EXPECT_TRUE(ends) << figure.title;
  }
}

// A curve whose columns are both constant has one place, and that is seen.
TEST(Svg, ACurveThatStandsStillIsAPoint) {
  Series still;
  still.x = {5, 5, 5};
  still.y = {3, 3, 3};
  const Element root = parse(to_svg(one_panel(still)));
  const auto series = root.all("g", "series");
  ASSERT_EQ(series.size(), 1U);
  ASSERT_EQ(series[0]->all("path").size(), 1U);
  const std::string fill = series[0]->all("path").front()->attribute("fill");
  EXPECT_TRUE(fill.starts_with("#") && fill != "#ffffff") << fill;
  EXPECT_TRUE(parse(to_svg(one_panel(sine(20)))).all("g", "series")[0]->all("path").empty());
}

TEST(Svg, ARegionHasASwatchInTheLegendAndSymbolsTheirSize) {
  Series region;
  region.label = "unstable";
  region.x = {0, 1, 1, 0};
  region.y = {0, 0, 1, 1};
  region.filled = true;
  region.stroke = Stroke::none;
  Figure figure = one_panel(region);
  Series dots = sine(3);
  dots.label = "dots";
  dots.stroke = Stroke::none;
  dots.symbol = Symbol::square;
  dots.radius = 4;
  figure.panels[0].series.push_back(dots);
  const Element root = parse(to_svg(figure));
  const auto swatches = root.all("rect", "swatch");
  ASSERT_EQ(swatches.size(), 1U);
  const Element* polygon = root.all("polygon").front();
  EXPECT_EQ(swatches[0]->attribute("fill"), polygon->attribute("fill"));
  EXPECT_EQ(swatches[0]->attribute("fill-opacity"), polygon->attribute("fill-opacity"));
  // The first corner of the square in the legend and of the first one in the panel: 0.9 radius from the middle.
  std::vector<std::string> outlines;
  for (const Element* path : root.all("path")) outlines.push_back(path->attribute("d"));
  int squares = 0;
  for (const std::string& outline : outlines) {
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
    if (std::sscanf(outline.c_str(), "M%lf %lfL%lf %lf", &x1, &y1, &x2, &y2) != 4) continue;
    EXPECT_NEAR(x2 - x1, 2 * 0.9 * 4, 0.02) << outline;
    ++squares;
  }
  EXPECT_EQ(squares, 2);
}

TEST(Svg, EscapingKeepsGoodTextAndReplacesWhatXmlForbids) {
  EXPECT_EQ(escaped("é − 漢 𝛾"), "é − 漢 𝛾");
  EXPECT_EQ(escaped(std::string("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(escaped("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate";
  EXPECT_EQ(escaped("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "cut short";
  EXPECT_EQ(escaped("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
}

TEST(Svg, MarksStandOnTheirPointsOrInLanesAboveThePanel) {
  Figure figure = one_panel(sine(300));
  Panel& panel = figure.panels[0];
  panel.mark_kinds = {{"impact", Symbol::triangle_down}, {"stick", Symbol::disc}, {"unused", Symbol::square}};
  for (const double x : {0.5, 1.0, 1.5}) panel.marks.push_back({0, x, std::nan(""), ""});
  panel.marks.push_back({1, 1.0, std::nan(""), "stick pad"});
  panel.marks.push_back({0, 2.0, 0.25, "on the curve"});
  const Element root = parse(to_svg(figure));
  const auto lanes = root.all("g", "lane");
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[0]->all("path", "mark").size(), 3U);
  EXPECT_EQ(lanes[1]->all("path", "mark").size(), 1U);
  EXPECT_EQ(lanes[1]->all("title")[0]->text, "stick pad");
  EXPECT_EQ(root.all("g", "marks")[0]->all("path", "mark").size(), 1U);
  const std::string hairlines = root.all("path", "hairlines").at(0)->attribute("d");
  EXPECT_EQ(std::count(hairlines.begin(), hairlines.end(), 'M'), 3);
}

// Marks that touch each other all along a lane would be a bar that says nothing.
TEST(Svg, ALaneIsNeverSolidAndAFewNeighboursAllStay) {
  const auto marks_of = [](int count, double distance) {
    Figure figure = one_panel(sine(300));
    figure.panels[0].mark_kinds = {{"impact", Symbol::diamond}};
    for (int i = 0; i < count; ++i) figure.panels[0].marks.push_back({0, distance * i, std::nan(""), "tip"});
    return parse(to_svg(figure)).all("g", "lane").at(0)->all("path", "mark").size();
  };
  EXPECT_EQ(marks_of(30, 0.01), 30U) << "close to each other, but a few";
  const std::size_t dense = marks_of(350, 0.008);
  EXPECT_LT(dense, 100U) << "720 pixels have room for a hundred of them";
  EXPECT_GT(dense, 50U) << "the lane is full all the same";
}

TEST(Svg, ManyMarksAreOneSymbolPerPixelWithoutHairlines) {
  Figure figure = one_panel(sine(300));
  figure.panels[0].mark_kinds = {{"impact", Symbol::bar}};
  for (int i = 0; i < 100'000; ++i) figure.panels[0].marks.push_back({0, 3e-5 * i, std::nan(""), "tip"});
  const std::string svg = to_svg(figure);
  EXPECT_LT(svg.size(), 60'000U);
  EXPECT_TRUE(parse(svg).all("path", "hairlines").empty());
}

TEST(Svg, SharedAbscissaIsLabelledOnceAndHasOneRange) {
  Figure figure = one_panel(sine(300));
  figure.panels.push_back(figure.panels[0]);
  figure.panels[1].series[0] = sine(100);
  figure.shared_x = true;
  const Element root = parse(to_svg(figure));
  const auto ticks = root.all("g", "x-ticks");
  ASSERT_EQ(ticks.size(), 2U);
  EXPECT_TRUE(ticks[0]->all("text").empty());
  EXPECT_GE(ticks[1]->all("text").size(), 3U);
  const FigureLayout layout = layout_of(figure);
  EXPECT_EQ(layout.panels[0].x.to, layout.panels[1].x.to);
  EXPECT_GT(layout.panels[1].top, layout.panels[0].bottom);
}

TEST(Svg, SameScaleGivesBothUnitsTheSameLength) {
  Figure figure = one_panel(sine(300));
  figure.panels[0].same_scale = true;
  const PanelLayout panel = layout_of(figure).panels[0];
  EXPECT_NEAR((panel.right - panel.left) / (panel.x.to - panel.x.from),
              (panel.bottom - panel.top) / (panel.y.to - panel.y.from), 1e-9);
}

TEST(Svg, AGivenRangeClipsWithoutAnIdentifier) {
  Figure figure = one_panel(sine(300));
  figure.panels[0].x.to = 1;
  const std::string svg = to_svg(figure);
  ASSERT_EQ(parse(svg).all("svg").size(), 2U);
  EXPECT_EQ(parse(svg).all("svg")[1]->attribute("overflow"), "hidden");
  EXPECT_EQ(svg.find(" id="), std::string::npos) << "identifiers of two figures in one page would collide";
}

TEST(Svg, StandsAloneAndIsTheSameEveryTime) {
  const Figure figure = one_panel(sine(300));
  const std::string svg = to_svg(figure);
  EXPECT_EQ(svg, to_svg(figure));
  for (const char* outside : {"href", "url(", "<script", "<style", "<image", "@import"}) {
    EXPECT_EQ(svg.find(outside), std::string::npos) << outside;
  }
}

TEST(Svg, EmptyFiguresAndStrangeNumbersAreDrawnAsAxes) {
  EXPECT_FALSE(parse(to_svg({})).name.empty());
  Figure figure = one_panel({});
  EXPECT_GE(parse(to_svg(figure)).all("g", "y-ticks")[0]->all("text").size(), 2U);
  std::mt19937_64 random(8);
  for (int run = 0; run < count(2'000); ++run) {
    Series series;
    const std::vector<double> strange = {0,      -0.0, 1,        -1,    1e308,     -1e308,
                                         5e-324, NAN,  INFINITY, 1e-17, 1 + 1e-15, 3e5};
    for (std::size_t i = 0; i < random() % 6; ++i) {
      series.x.push_back(strange[random() % strange.size()]);
      series.y.push_back(strange[random() % strange.size()]);
      if (random() % 3 == 0) series.jumps.push_back(i);
    }
    series.symbol = random() % 2 == 0 ? Symbol::none : Symbol::cross;
    series.filled = random() % 5 == 0;
    Figure odd = one_panel(series);
    odd.panels[0].x.logarithmic = random() % 4 == 0;
    odd.panels[0].y.logarithmic = random() % 4 == 0;
    const std::string svg = to_svg(odd);
    ASSERT_TRUE(XmlReader::read(svg).has_value()) << "run " << run;
    ASSERT_EQ(svg.find("nan"), std::string::npos) << "run " << run;
    expect_inside(parse(svg), layout_of(odd).panels[0]);
    if (HasFatalFailure()) FAIL() << "run " << run;
  }
}

TEST(Svg, PixelsAreShort) {
  EXPECT_EQ(pixels(1.0), "1");
  EXPECT_EQ(pixels(-0.001), "0");
  EXPECT_EQ(pixels(12.346), "12.35");
  EXPECT_EQ(pixels(100), "100");
  EXPECT_EQ(pixels(-3.1), "-3.1");
}

}  // namespace
}  // namespace judder::report

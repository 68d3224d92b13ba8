//! A small writer of SVG: lines, boxes and text.

use std::fmt::Write as _;

/// A drawing.
pub(super) struct Svg {
    body: String,
    width: f64,
    height: f64,
}

/// Where text stands relative to its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An empty drawing on a light ground.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut svg = Self { body: String::new(), width, height };
        svg.rectangle((0.0, 0.0), (width, height), "#fcfcfa");
        svg
    }

    /// A box with a colour.
    pub(super) fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str) {
        self.add(format!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{fill}"/>"#
        ));
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], stroke: &str, width: f64) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.add(format!(
            r#"<polyline points="{}" fill="none" stroke="{stroke}" stroke-width="{width}"/>"#,
            points.join(" ")
        ));
    }

    /// Text of a size in pixels.
    pub(super) fn text(&mut self, (x, y): (f64, f64), size: u32, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.add(format!(
            r##"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}" fill="#333">{text}</text>"##
        ));
    }

    /// The whole document.
    pub(super) fn document(self) -> String {
        let Self { body, width, height } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n{body}</svg>\n"
        )
    }

    fn add(&mut self, element: String) {
        let _ = writeln!(self.body, "{element}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_the_document() {
        let mut svg = Svg::new(100.0, 50.0);
        svg.text((1.0, 2.0), 12, Anchor::Start, "a < b & c");
        let document = svg.document();
        assert!(document.starts_with("<svg ") && document.ends_with("</svg>\n"));
        assert!(document.contains("a &lt; b &amp; c"), "{document}");
    }
}

//! A picture of a run: for each phase the times of every operation as curves, and cycles a second as they went.

use super::svg::{Anchor, Svg};

/// A phase of a run.
pub(super) struct Panel {
    pub(super) title: String,
    /// Operations, each with points: 1 in so many lies beyond so many milliseconds.
    pub(super) curves: Vec<(&'static str, Vec<(f64, f64)>)>,
    pub(super) per_second: Vec<f64>,
}

const WIDTH: f64 = 1080.0;
const HEAD: f64 = 48.0;
const PANEL: f64 = 380.0;
const COLOURS: [&str; 7] = ["#1f77b4", "#d62728", "#2ca02c", "#7f7f7f", "#9467bd", "#8c564b", "#e08214"];
const GRID: &str = "#e2e2dc";
const AXIS: &str = "#888";

/// A field of the picture that values are drawn in.
struct Field {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Field {
    /// From parts of its width and height, counted from the lower left.
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + x * (self.right - self.left), self.bottom - y * (self.bottom - self.top))
    }
}

/// The picture.
#[expect(clippy::cast_precision_loss, reason = "there are few panels")]
pub(super) fn draw(title: &str, panels: &[Panel]) -> String {
    let mut svg = Svg::new(WIDTH, HEAD + PANEL * panels.len() as f64);
    svg.text((20.0, 30.0), 18, Anchor::Start, title);
    for (row, panel) in panels.iter().enumerate() {
        let top = HEAD + PANEL * row as f64;
        svg.text((20.0, top + 16.0), 14, Anchor::Start, &panel.title);
        let (top, bottom) = (top + 48.0, top + PANEL - 48.0);
        times(&mut svg, panel, &Field { left: 64.0, right: 620.0, top, bottom });
        throughput(&mut svg, panel, &Field { left: 700.0, right: WIDTH - 24.0, top, bottom });
    }
    svg.document()
}

/// Times by percentile, both on a scale of powers of ten.
#[expect(clippy::cast_precision_loss, reason = "names are short")]
fn times(svg: &mut Svg, panel: &Panel, field: &Field) {
    let all = panel.curves.iter().flat_map(|(_, points)| points);
    let (mut low, mut high, mut rarest) = (f64::MAX, f64::MIN, 100.0_f64);
    for &(beyond, millis) in all {
        (low, high, rarest) = (low.min(millis), high.max(millis), rarest.max(beyond));
    }
    // Whole powers of ten, at least one apart. What is below a hundredth of a millisecond is drawn there.
    let low = low.clamp(0.01, 1e4).log10().floor();
    let high = high.clamp(0.01, 1e6).log10().ceil().max(low + 1.0);
    let x = |beyond: f64| (beyond / 2.0).log10() / (rarest / 2.0).log10();
    let y = |millis: f64| (millis.max(10_f64.powf(low)).log10() - low) / (high - low);

    let mut power = low;
    while power <= high {
        let at = y(10_f64.powf(power));
        svg.line(&[field.at(0.0, at), field.at(1.0, at)], GRID, 1.0);
        let (left, level) = field.at(0.0, at);
        svg.text((left - 6.0, level + 4.0), 11, Anchor::End, &format!("{} ms", 10_f64.powf(power)));
        power += 1.0;
    }
    let names = [(2.0, "p50"), (10.0, "p90"), (100.0, "p99"), (1_000.0, "p99.9"), (10_000.0, "p99.99")];
    for (beyond, name) in names.into_iter().filter(|(beyond, _)| *beyond <= rarest) {
        svg.line(&[field.at(x(beyond), 0.0), field.at(x(beyond), 1.0)], GRID, 1.0);
        let (across, bottom) = field.at(x(beyond), 0.0);
        svg.text((across, bottom + 16.0), 11, Anchor::Middle, name);
    }
    svg.line(&[field.at(0.0, 1.0), field.at(0.0, 0.0), field.at(1.0, 0.0)], AXIS, 1.0);
    let mut across = field.left;
    for ((name, points), colour) in panel.curves.iter().zip(COLOURS.iter().cycle()) {
        let line: Vec<(f64, f64)> =
            points.iter().map(|&(beyond, millis)| field.at(x(beyond), y(millis))).collect();
        svg.line(&line, colour, 2.0);
        svg.rectangle((across, field.top - 20.0), (10.0, 10.0), colour);
        svg.text((across + 14.0, field.top - 11.0), 11, Anchor::Start, name);
        across += 30.0 + 7.0 * name.len() as f64;
    }
}

/// Cycles in each second, from zero.
#[expect(clippy::cast_precision_loss, reason = "seconds of a run are few")]
fn throughput(svg: &mut Svg, panel: &Panel, field: &Field) {
    let highest = round_up(panel.per_second.iter().copied().fold(1.0, f64::max));
    for part in 0..=4 {
        let part = f64::from(part) / 4.0;
        svg.line(&[field.at(0.0, part), field.at(1.0, part)], GRID, 1.0);
        let (left, level) = field.at(0.0, part);
        svg.text((left - 6.0, level + 4.0), 11, Anchor::End, &format!("{:.0}", highest * part));
    }
    let last = panel.per_second.len().saturating_sub(1).max(1) as f64;
    let points: Vec<(f64, f64)> = panel
        .per_second
        .iter()
        .enumerate()
        .map(|(second, rate)| field.at(second as f64 / last, rate / highest))
        .collect();
    svg.line(&points, COLOURS[0], 2.0);
    svg.line(&[field.at(0.0, 1.0), field.at(0.0, 0.0), field.at(1.0, 0.0)], AXIS, 1.0);
    svg.text((field.left, field.top - 11.0), 11, Anchor::Start, "cycles in each second");
    let (right, bottom) = field.at(1.0, 0.0);
    svg.text((right, bottom + 16.0), 11, Anchor::End, &format!("{} s", panel.per_second.len()));
}

/// The next of 1, 2, 4, 6, 8 and 10 with zeros behind it: so that a quarter of it is a plain number.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 4.0, 6.0, 8.0];
    steps.into_iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_a_plain_number() {
        assert_eq!([0.0, 1.0, 3.0, 950.0, 1001.0].map(round_up), [1.0, 1.0, 4.0, 1000.0, 2000.0]);
    }

    #[test]
    fn a_phase_without_times_can_be_drawn() {
        let panel = Panel { title: "none".into(), curves: Vec::new(), per_second: Vec::new() };
        let picture = draw("nothing", &[panel]);
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    }
}

//! Who does what and when: a schedule that is drawn before anybody arrives, and kept whatever the program answers. The same
//! plan gives the same schedule.

use std::time::Duration;

use app::model::{RehearsalPlan, Shape};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// How long before the opening of a sale the first arrive, where many are expected at once.
const EARLY: Duration = Duration::from_secs(1);

/// The part of a spike that comes too early.
const EARLY_PART: f64 = 0.1;

/// A spike falls to a third in this part of its time.
const DECAY: f64 = 0.15;

/// What somebody does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Looks at the voucher's page.
    Look,
    /// Presses the button, and reads the answer.
    Press,
    /// Presses the button, and hangs up without reading the answer.
    PressAndHangUp,
}

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// When, after the first may be.
    pub due: Duration,
    /// Who: the place among the shoppers.
    pub shopper: usize,
    /// What.
    pub what: What,
}

/// All that is due, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// What is due.
    pub arrivals: Vec<Arrival>,
    /// When the sale opens, after the first arrival may be.
    pub opens: Duration,
}

impl Schedule {
    /// The schedule of a plan.
    #[must_use]
    pub fn of(plan: &RehearsalPlan) -> Self {
        let mut drawing = Drawing {
            chance: StdRng::seed_from_u64(plan.seed.into()),
            opens: match plan.shape {
                Shape::Spike => EARLY,
                Shape::Ramp | Shape::Steady => Duration::ZERO,
            },
            lasts: f64::from(plan.seconds),
            shape: plan.shape,
            arrivals: Vec::new(),
        };
        let shoppers = usize::try_from(plan.shoppers).unwrap_or(usize::MAX);
        (0..shoppers).for_each(|shopper| drawing.shopper(shopper));
        drawing.arrivals.sort_unstable();
        Self {
            arrivals: drawing.arrivals,
            opens: drawing.opens,
        }
    }
}

struct Drawing {
    chance: StdRng,
    opens: Duration,
    lasts: f64,
    shape: Shape,
    arrivals: Vec<Arrival>,
}

impl Drawing {
    /// Of a hundred shoppers 55 press once, 15 twice at the same time, 15 again later, 10 look at the page first, and 5 hang
    /// up, of whom every second comes back. Whoever was too early presses again once the sale is open.
    fn shopper(&mut self, shopper: usize) {
        let due = self.arrival();
        let kind: f64 = self.chance.random();
        let mut add = |due, what| self.arrivals.push(Arrival { due, shopper, what });
        let mut pressed = due;
        match kind {
            ..0.55 => add(due, What::Press),
            ..0.70 => {
                add(due, What::Press);
                add(due, What::Press);
            }
            ..0.85 => {
                add(due, What::Press);
                pressed = due + seconds(self.chance.random_range(0.3..2.0));
                add(pressed, What::Press);
            }
            ..0.95 => {
                add(due, What::Look);
                pressed = due + seconds(self.chance.random_range(0.2..1.5));
                add(pressed, What::Press);
            }
            _ => {
                add(due, What::PressAndHangUp);
                if self.chance.random() {
                    pressed = due + seconds(self.chance.random_range(0.3..2.0));
                    add(pressed, What::Press);
                }
            }
        }
        if pressed < self.opens {
            add(
                self.opens + seconds(self.chance.random_range(0.0..1.0)),
                What::Press,
            );
        }
    }

    /// When somebody arrives: drawn from the shape.
    fn arrival(&mut self) -> Duration {
        let part: f64 = self.chance.random();
        match self.shape {
            Shape::Steady => seconds(part * self.lasts),
            Shape::Ramp => seconds(part.sqrt() * self.lasts),
            Shape::Spike if self.chance.random_bool(EARLY_PART) => self.opens.mul_f64(part),
            Shape::Spike => {
                let scale = self.lasts * DECAY;
                let within = 1.0 - (-self.lasts / scale).exp();
                self.opens + seconds(-scale * (1.0 - part * within).ln())
            }
        }
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.max(0.0))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn schedule(shape: Shape, seed: u32) -> Schedule {
        Schedule::of(&RehearsalPlan {
            shoppers: 2000,
            units: 100,
            shape,
            seconds: 20,
            voucher: None,
            seed,
            on_production: false,
        })
    }

    /// The part of the arrivals that are due within so many seconds.
    fn part_within(schedule: &Schedule, within: u64) -> f64 {
        let due = schedule.arrivals.iter();
        let within = due.filter(|arrival| arrival.due < Duration::from_secs(within));
        within.count() as f64 / schedule.arrivals.len() as f64
    }

    #[test]
    fn the_same_number_gives_the_same_arrivals_and_another_does_not() {
        assert_eq!(schedule(Shape::Spike, 7), schedule(Shape::Spike, 7));
        assert_ne!(schedule(Shape::Spike, 7), schedule(Shape::Spike, 8));
    }

    #[test]
    fn everybody_arrives_in_order_and_in_time() {
        for shape in Shape::ALL {
            let schedule = schedule(shape, 1);
            let who: HashSet<usize> = schedule.arrivals.iter().map(|a| a.shopper).collect();
            assert_eq!(who.len(), 2000);
            assert!(schedule.arrivals.is_sorted_by_key(|arrival| arrival.due));
            let last = schedule.arrivals.last().unwrap().due;
            assert!(last < Duration::from_secs(20 + 1 + 3), "{last:?}");
        }
    }

    #[test]
    fn a_spike_is_steep_a_ramp_rises_and_steady_is_steady() {
        let spike = part_within(&schedule(Shape::Spike, 1), 1 + 4);
        assert!(spike > 0.7, "{spike}");
        let ramp = part_within(&schedule(Shape::Ramp, 1), 10);
        assert!((0.2..0.3).contains(&ramp), "{ramp}");
        let steady = part_within(&schedule(Shape::Steady, 1), 10);
        assert!((0.4..0.55).contains(&steady), "{steady}");
    }

    #[test]
    fn whoever_is_too_early_presses_again_once_the_sale_is_open() {
        let schedule = schedule(Shape::Spike, 1);
        let pressed = |arrival: &&Arrival| arrival.what != What::Look;
        let (early, late): (Vec<&Arrival>, Vec<&Arrival>) = schedule
            .arrivals
            .iter()
            .filter(pressed)
            .partition(|arrival| arrival.due < schedule.opens);
        let late: HashSet<usize> = late.iter().map(|arrival| arrival.shopper).collect();
        assert!(early.len() > 100, "{}", early.len());
        assert!(early.iter().all(|arrival| late.contains(&arrival.shopper)));
    }

    #[test]
    fn some_press_twice_at_once_some_look_first_and_some_hang_up() {
        let schedule = schedule(Shape::Steady, 1);
        let of = |what| schedule.arrivals.iter().filter(|a| a.what == what).count();
        assert!((150..250).contains(&of(What::Look)));
        assert!((60..140).contains(&of(What::PressAndHangUp)));
        let twice = schedule.arrivals.windows(2).filter(|two| two[0] == two[1]);
        assert!((220..380).contains(&twice.count()));
    }
}

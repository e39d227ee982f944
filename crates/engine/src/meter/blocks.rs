//! Totals of each scenario and each group, for a summary that is to say everything. A run that does not ask for it has
//! none of this.

use model::expression::Selector;
use model::metric::{Metric, MetricId, MetricType};
use model::summary::{MetricTotal, Summary, Total};

use super::Tags;

/// Scenarios and groups that are told apart.
const BLOCKS_MAX: usize = 100;

/// See the module.
#[derive(Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    full: bool,
}

struct Block {
    scenario: String,
    group: String,
    /// Where the total of each metric stands.
    totals: Vec<(MetricId, u32)>,
}

impl Blocks {
    /// The totals that samples of this metric with these tags count in, made in `totals` if they are new.
    pub(super) fn totals_for(
        &mut self,
        (metric, kind): (MetricId, MetricType),
        tags: &Tags,
        totals: &mut Vec<Total>,
    ) -> Vec<u32> {
        let tag = |name: &str| tags.iter().find(|(key, _)| **key == *name).map_or("", |(_, value)| value);
        let (scenario, group) = (tag("scenario"), tag("group"));
        let wanted = [(!scenario.is_empty()).then_some(""), (!group.is_empty()).then_some(group)];
        let mut found = Vec::new();
        for group in wanted.into_iter().flatten() {
            let Some(block) = self.at(scenario, group) else { continue };
            let known = block.totals.iter().find(|(id, _)| *id == metric).map(|(_, total)| *total);
            found.push(known.unwrap_or_else(|| {
                totals.push(Total::new(kind));
                let index = u32::try_from(totals.len() - 1).expect("the number of blocks is capped");
                block.totals.push((metric, index));
                index
            }));
        }
        found
    }

    fn at(&mut self, scenario: &str, group: &str) -> Option<&mut Block> {
        let position = self.blocks.iter().position(|block| block.scenario == scenario && block.group == group);
        if position.is_none() && self.blocks.len() >= BLOCKS_MAX {
            self.full = true;
            return None;
        }
        let position = position.unwrap_or_else(|| {
            let (scenario, group) = (scenario.to_owned(), group.to_owned());
            self.blocks.push(Block { scenario, group, totals: Vec::new() });
            self.blocks.len() - 1
        });
        self.blocks.get_mut(position)
    }

    /// Puts them into the summary.
    pub(super) fn write(&self, summary: &mut Summary, metrics: &[Metric], totals: &[Total]) {
        for block in &self.blocks {
            let into = summary.block(&block.scenario, &block.group);
            for (id, total) in &block.totals {
                let Metric { name, kind, contains } = &metrics[id.0 as usize];
                let (selector, total) = (Selector::all(name), totals[*total as usize].clone());
                into.metrics.insert(name.clone(), MetricTotal { selector, kind: *kind, contains: *contains, total });
            }
        }
        if self.full {
            summary
                .limits
                .insert("more than 100 scenarios and groups: later ones have no block of their own".to_owned());
        }
    }
}

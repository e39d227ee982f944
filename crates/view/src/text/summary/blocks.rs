//! The blocks of the full summary: one for each scenario if there are several, and one for each group.

use model::summary::Block;

use super::metrics::{self, Scope};
use super::{checks, title};
use crate::layout::{Page, one_line};
use crate::style::Paint;

/// Writes all blocks.
pub(super) fn write(page: &mut Page, scope: &Scope<'_>) {
    let mut scenarios: Vec<&str> = Vec::new();
    for block in &scope.summary.blocks {
        if !scenarios.contains(&block.scenario.as_str()) {
            scenarios.push(&block.scenario);
        }
    }
    // What belongs to no scenario (setup and teardown) comes first.
    let place = |scenario: &str| scope.plan.scenarios.iter().position(|planned| planned.name == scenario);
    scenarios.sort_by_key(|scenario| (!scenario.is_empty(), place(scenario)));
    let several = scenarios.iter().filter(|scenario| !scenario.is_empty()).count() > 1;
    for scenario in scenarios {
        let titled = several && !scenario.is_empty();
        if titled {
            title(page, &format!("SCENARIO: {}", one_line(scenario)));
            if let Some(block) = find(scope, scenario, "") {
                content(page, block, 0, scope);
            }
        }
        groups(page, scope, scenario, usize::from(titled));
    }
}

fn find<'a>(scope: &Scope<'a>, scenario: &str, group: &str) -> Option<&'a Block> {
    scope.summary.blocks.iter().find(|block| block.scenario == scenario && block.group == group)
}

/// The groups of a scenario as a tree. `depth` is 0 where they are blocks of their own.
fn groups(page: &mut Page, scope: &Scope<'_>, scenario: &str, depth: usize) {
    let mut paths: Vec<&str> = Vec::new();
    for block in scope.summary.blocks.iter().filter(|block| block.scenario == scenario && says_something(block)) {
        // A group in which nothing happened but its inner groups has no block.
        let ends = block.group.match_indices("::").map(|(at, _)| at).skip(1).chain([block.group.len()]);
        for path in ends.map(|end| &block.group[..end]).filter(|path| !path.is_empty()) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    // Inner groups stand behind their outer group, both in the order of first use.
    let first = paths.clone();
    let place = |path: &str| {
        let ends = path.match_indices("::").map(|(at, _)| at).skip(1).chain([path.len()]);
        ends.map(|end| first.iter().position(|known| *known == &path[..end])).collect::<Vec<_>>()
    };
    paths.sort_by_key(|path| place(path));
    for path in paths {
        let level = path.matches("::").count() - 1 + depth;
        let name = one_line(path.rsplit("::").next().unwrap_or(path));
        if level == 0 {
            title(page, &format!("GROUP: {name}"));
        } else {
            let (arrow, name) =
                (page.style().pick("↳", "->"), page.style().paint(Paint::Bold, &format!("GROUP: {name}")));
            page.line(&format!("{}{arrow} {name}", " ".repeat(2 + 2 * level)));
            page.line("");
        }
        if let Some(block) = find(scope, scenario, path) {
            content(page, block, 2 * level, scope);
        }
    }
}

fn says_something(block: &Block) -> bool {
    let is_traffic = |name: &&String| name.starts_with("data_") || *name == "group_duration";
    !block.checks.is_empty() || block.metrics.keys().any(|name| !is_traffic(&name))
}

fn content(page: &mut Page, block: &Block, indent: usize, scope: &Scope<'_>) {
    let mut inner = Page::new(page.style());
    checks(&mut inner, &block.checks, scope.summary.duration_s);
    metrics::write(&mut inner, &block.metrics, scope);
    for line in inner.finish().lines() {
        page.line(&format!("{}{line}", " ".repeat(indent)));
    }
}

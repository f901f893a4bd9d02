//! Tables as Markdown.

/// On which side of its column a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// All to the left.
    Left,
    /// The first to the left, the others to the right, as numbers stand.
    Numbers,
}

/// A table with a header. A bar in a cell is escaped, so that it ends no column, and a line break becomes a space.
///
/// # Panics
/// If a line is not as wide as the header.
pub fn table(align: Align, head: &[impl AsRef<str>], lines: &[Vec<String>]) -> String {
    let rule = |i: usize| if align == Align::Numbers && i > 0 { "---:" } else { "---" };
    let rule: Vec<&str> = (0..head.len()).map(rule).collect();
    let mut text = row(head) + &row(&rule);
    for line in lines {
        assert_eq!(line.len(), head.len(), "a line is as wide as the header: {line:?}");
        text += &row(line);
    }
    text
}

fn row(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell.as_ref())).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_markdown() {
        let lines = [vec!["x".to_string(), "a|b".into()]];
        assert_eq!(table(Align::Left, &["a", "b"], &lines), "| a | b |\n| --- | --- |\n| x | a\\|b |\n");
        assert!(table(Align::Numbers, &["a", "b"], &lines).contains("| --- | ---: |\n"));
    }
}

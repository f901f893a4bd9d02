//! Names that come twice.

use super::*;
use crate::record::Topic;

/// Columns and what was said, in their order, and rows.
#[derive(Default)]
struct Told(Vec<String>, Vec<Vec<Option<f64>>>);

impl Sink for Told {
    fn topic(&mut self, _: usize, _: &Topic) -> Result<bool> {
        Ok(true)
    }

    fn column(&mut self, _: usize, _: usize, column: &Column) -> Result<()> {
        self.0.push(column.name.clone());
        Ok(())
    }

    fn row(&mut self, _: usize, _: Option<i64>, row: &[Value<'_>]) -> Result<()> {
        self.1.push(row.iter().map(|value| value.number()).collect());
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, _: &str) {}

    fn assumed(&mut self, _: Option<usize>, what: &str) {
        self.0.push(what.into());
    }
}

#[test]
fn a_row_fills_a_place_once_and_a_second_equal_name_has_its_own() {
    let (mut into, mut told) = (Nested::new(0), Told::default());
    for row in 0..2 {
        into.begin();
        let at = into.field(Nested::ROOT, "position");
        for (i, name) in ["joint", "grip", "joint", "joint"].into_iter().enumerate() {
            let item = into.named_item(at, name);
            into.integer(item, 10 * row + i as i64, &mut told).unwrap();
        }
        into.end(None, &mut told).unwrap();
    }
    let names = ["position[joint]", "position[grip]", "position[joint.1]", "position[joint.2]"];
    let said = ["joint.1", "joint.2"]
        .map(|own| format!("two columns are called position[joint]: the later one is position[{own}]"));
    assert_eq!(told.0, [&names.map(String::from)[..], &said].concat(), "said once");
    assert_eq!(told.1, [[0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 13.0]].map(|row| row.map(Some).to_vec()));
}

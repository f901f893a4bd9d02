//! What a log states beside its numbers, against what the mapping says.

use super::*;

/// The rows of two channels.
#[derive(Default)]
struct Kept(Vec<Vec<f64>>);

impl Rows for Kept {
    fn column(&mut self, _: usize, _: usize) {}

    fn row(&mut self, _: usize, _: i64, row: &[(usize, f64)]) -> Result<()> {
        self.0.push(row.iter().map(|(_, x)| *x).collect());
        Ok(())
    }
}

fn chosen(more: &str) -> Chosen<Kept> {
    let text = format!("version = 1\nobservation = [{{ column = \"x\", unit = \"m\" }}]\n{more}");
    let mut chosen = Chosen::new(&Mapping::parse(&text).unwrap(), Kept::default());
    chosen.topic(0, &Topic { name: String::new(), kind: "table".into(), is_timed: false }).unwrap();
    chosen
}

#[test]
fn a_unit_that_the_log_states_is_that_of_the_mapping() {
    let told = |name: &str, unit: &str| {
        let column = Column { name: name.into(), unit: Some(unit.into()) };
        chosen("[clock]\ncolumn = \"time\"").column(0, 0, &column).map_err(|why| why.to_string())
    };
    for (name, unit) in [("x", "m"), ("x", "-"), ("time", "sec"), ("time", "UTC"), ("other", "cm")] {
        assert_eq!(told(name, unit), Ok(()), "{name} [{unit}]");
    }
    let why = told("x", "cm").unwrap_err();
    assert!(why.contains("column \"x\": expected the unit m of the mapping, found cm"), "{why}");
    let why = told("time", "min").unwrap_err();
    assert!(
        why.contains("column \"time\": expected the unit s of the clock of the mapping, found min"),
        "{why}"
    );
    let mut dated = chosen("[clock]\ncolumn = \"time\"\nunit = \"date\"");
    dated.column(0, 0, &Column { name: "time".into(), unit: Some("h".into()) }).unwrap();
}

#[test]
fn a_number_that_means_missing_does_so_in_single_precision() {
    let mut chosen = chosen("missing = [-99.9]\n[clock]");
    chosen.column(0, 0, &Column::new("x")).unwrap();
    for x in [1.5, -99.9, f64::from(-99.9_f32), -99.0] {
        chosen.row(0, None, &[Value::Number(x)]).unwrap();
    }
    let is_missing: Vec<bool> = chosen.rows.0.iter().map(|row| row[0].is_nan()).collect();
    assert_eq!(is_missing, [false, true, true, false]);
}

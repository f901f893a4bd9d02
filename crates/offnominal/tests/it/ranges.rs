//! A parameter outside its physical range is refused with the range, whichever command it is given to.

use crate::{fails, offnominal};

const WANT: &str = "parameter mass of sap-goal0: expected a value in [0.01, 1000], found -1";

#[test]
fn a_negative_mass_is_refused_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let anomaly_spec =
        ["--env", "sap-goal0", "--policy", "random", "--anomaly", "dyn-mass", "--magnitude=-1"];
    for command in [&["collect", "--episodes", "1"][..], &["render"]] {
        let said = fails(&mut offnominal(&[command, &anomaly_spec].concat(), &out));
        assert!(said.contains(WANT), "{said}");
    }
    let campaign = folder.path().join("campaign.toml");
    let text = r#"
        name = "impossible"
        seed = 1
        envs = ["sap-goal0"]
        policies = ["random"]
        detectors = ["clock"]
        anomalies = [{ id = "dyn-mass", magnitude = -1 }]
        episodes = { train = 5, validation = 19, test = 5 }
    "#;
    std::fs::write(&campaign, text).unwrap();
    let said = fails(&mut offnominal(&["bench", campaign.to_str().unwrap()], &out));
    assert!(said.contains("line 7") && said.contains(WANT), "{said}");
    assert!(!out.exists());
}

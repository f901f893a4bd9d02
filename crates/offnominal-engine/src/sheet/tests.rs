//! Sheets of environments and of anomalies.

use super::*;

fn request(envs: &[&str]) -> Request {
    Request {
        envs: envs.iter().map(ToString::to_string).collect(),
        policy: "random".into(),
        view: View::Camera,
        camera: None,
        anomalies: Vec::new(),
        magnitudes: Vec::new(),
        strengths: Vec::new(),
        step: 3,
        size: 24,
        columns: None,
        file: PathBuf::new(),
    }
}

fn panels(request: &Request) -> Vec<Captioned> {
    let panels = |env| request.panels(&Subject::new(env, "random").unwrap(), Seed(1)).unwrap();
    request.envs.iter().flat_map(|env| panels(env)).collect()
}

fn words(panels: &[Captioned]) -> Vec<String> {
    panels.iter().map(|p| p.lines.join(" ")).collect()
}

#[test]
fn environments_stand_side_by_side() {
    let found = panels(&request(&["cartpole", "sap-goal0"]));
    assert_eq!(words(&found), ["cartpole", "sap-goal0"]);
    assert!(found.iter().all(|p| (p.frame.width, p.frame.height) == (24, 24)));
    assert_ne!(found[0].frame, found[1].frame);
}

#[test]
fn anomalies_stand_beside_the_nominal_frame_in_the_order_of_the_list() {
    let one = Request {
        anomalies: vec!["cam-noise".into(), "cam-b*".into()],
        magnitudes: vec![1.0],
        ..request(&["sap-goal0"])
    };
    let found = panels(&one);
    let want = ["sap-goal0 nominal", "cam-noise 1", "cam-blur 1", "cam-brightness 1"];
    assert_eq!((words(&found), one.columns()), (want.map(String::from).to_vec(), COLUMNS));
    assert!(found[1..].iter().all(|p| p.frame.rgb != found[0].frame.rgb));
    // Several levels make a row for each anomaly; at magnitude 0 a camera sees what it would see.
    let many = Request { magnitudes: vec![0.0, 2.5], ..one };
    let found = panels(&many);
    assert_eq!((found.len(), many.columns()), (9, 3));
    assert_eq!(words(&found)[..3], ["sap-goal0 nominal", "cam-noise 0", "cam-noise 2.5"]);
    assert_eq!(found[0].frame.rgb, found[1].frame.rgb);
    assert_ne!(found[0].frame.rgb, found[2].frame.rgb);
}

#[test]
fn a_level_that_no_magnitude_reaches_is_an_empty_frame_that_says_so() {
    let strong = Request {
        anomalies: vec!["cam-blur".into(), "cam-fog".into()],
        strengths: vec!["strong".into()],
        ..request(&["sap-goal0"])
    };
    let found = panels(&strong);
    assert_eq!(words(&found)[1..], ["cam-blur strong: unattainable", "cam-fog strong: 1.313"]);
    assert!(found[1].frame.rgb.iter().all(|&v| v == 236));
}

#[test]
fn what_a_policy_reads_is_shown_with_what_disturbs_it() {
    let read = Request {
        view: View::Observation,
        anomalies: vec!["img-impulse-noise".into()],
        magnitudes: vec![1.0, 5.0],
        ..request(&["pong"])
    };
    let found = panels(&read);
    assert!(found.iter().all(|p| (p.frame.width, p.frame.height) == (84, 84)));
    let differ = |i: usize| {
        let pairs = found[0].frame.rgb.iter().zip(&found[i].frame.rgb);
        pairs.filter(|(a, b)| a != b).count()
    };
    assert!(0 < differ(1) && differ(1) < differ(2), "{} {}", differ(1), differ(2));
}

#[test]
fn what_cannot_be_shown_is_explained() {
    let refused = |request: Request| format!("{:#}", run(&request, &Context::silent(1, 1)).unwrap_err());
    let late = refused(Request { step: 5000, ..request(&["cartpole"]) });
    assert!(late.contains("cartpole: step: expected at most ") && late.contains("found 5000"), "{late}");
    let anomalies = vec!["cam-fogg".into()];
    let wrong = refused(Request { anomalies, magnitudes: vec![1.0], ..request(&["sap-goal0"]) });
    assert!(wrong.contains("no anomaly is called \"cam-fogg\"; did you mean \"cam-fog\"?"), "{wrong}");
    let alone = refused(Request { anomalies: vec!["cam-fog".into()], ..request(&["sap-goal0"]) });
    assert!(alone.contains("expected anomalies with magnitudes or strengths"), "{alone}");
    let large = Request { size: 1024, anomalies: vec!["*".into()], ..request(&["sap-goal0"]) };
    let large = refused(Request { magnitudes: vec![1.0; 9], ..large });
    assert!(large.contains("expected a sheet of at most 67108864 pixels, found one of "), "{large}");
    let numbers = refused(Request { view: View::Observation, ..request(&["sap-goal0"]) });
    assert!(numbers.contains("whose observation is an image, found sap-goal0"), "{numbers}");
}

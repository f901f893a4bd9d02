//! The same scenes in every layout, in every role: the numbers are the same, and what has no labels is scored.

use super::{Data, Evaluation, asked};
use crate::evaluate;
use crate::layout::{ImageFolder, Layout};
use crate::score;
use offnominal_files::array;
use offnominal_files::image_file::{self, Samples, colours, grey};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use strum::VariantArray;

/// A scene: its name, its colours and its labels, as our own layout keeps them.
struct Scene {
    name: String,
    rgb: Vec<u8>,
    ids: Vec<u8>,
}

const SIZE: [usize; 2] = [64, 32];

fn scenes(folder: &Path) -> Vec<Scene> {
    let names = (0..6).map(|i| format!("{i:05}"));
    let read =
        |kind: &str, name: &str| image_file::read(&folder.join(kind).join(format!("{name}.png"))).unwrap();
    let scene = |name: String| {
        let Samples::Numbers(ids) = read("labels", &name).samples else { panic!("labels are numbers") };
        let ids = ids.into_iter().map(|id| id as u8).collect();
        Scene { rgb: read("images", &name).rgb(), ids, name }
    };
    names.map(scene).collect()
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Where a layout keeps an image and its labels.
fn places(layout: Layout, name: &str) -> [String; 2] {
    let both = |image: String, labels: String| [image, labels];
    match layout {
        Layout::Offnominal => both(format!("images/{name}.png"), format!("labels/{name}.png")),
        Layout::Cityscapes => both(
            format!("leftImg8bit/val/ulm/{name}_leftImg8bit.png"),
            format!("gtFine/val/ulm/{name}_gtFine_labelIds.png"),
        ),
        Layout::Idd => both(
            format!("leftImg8bit/val/7/{name}_leftImg8bit.png"),
            format!("gtFine/val/7/{name}_gtFine_labelids.png"),
        ),
        Layout::LostAndFound => both(
            format!("leftImg8bit/val/01_Street/{name}_leftImg8bit.png"),
            format!("gtCoarse/val/01_Street/{name}_gtCoarse_labelIds.png"),
        ),
        Layout::Sun2012 => {
            both(format!("Images/s/street/{name}.png"), format!("Annotations/s/street/{name}.xml"))
        }
        Layout::StreetHazards => {
            both(format!("images/val/t5/{name}.png"), format!("annotations/val/t5/{name}.png"))
        }
        Layout::Smiyc => {
            both(format!("images/{name}.png"), format!("labels_masks/{name}_labels_semantic.png"))
        }
        Layout::Fishyscapes => both(format!("{name}_leftImg8bit.png"), format!("{name}_labels.png")),
        Layout::Anomalib => both(format!("abnormal/{name}.png"), format!("mask/{name}.png")),
        Layout::Images => both(format!("{name}.png"), String::new()),
    }
}

/// The number of a label id in a layout: some say nothing of classes, others have numbers of their own.
fn number(layout: Layout, id: u8) -> u8 {
    match (layout, id) {
        (Layout::Smiyc | Layout::Fishyscapes, 254) => 1,
        (Layout::Smiyc | Layout::Fishyscapes, 255) => 255,
        (Layout::Smiyc | Layout::Fishyscapes, _) => 0,
        (Layout::Anomalib, 254) => 255,
        (Layout::Anomalib, _) => 0,
        (Layout::Offnominal, id) | (_, id @ 254..) => id,
        (_, id) => id + 30,
    }
}

/// Rows of equal labels as polygons with the names of numbers.
fn xml(ids: &[u8]) -> String {
    let mut text =
        format!("<annotation><imagesize><nrows>{}</nrows><ncols>{}</ncols></imagesize>", SIZE[1], SIZE[0]);
    for (y, row) in ids.chunks(SIZE[0]).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|a, b| a == b) {
            let corners = [(x, y), (x + run.len(), y), (x + run.len(), y + 1), (x, y + 1)];
            let points = corners.map(|(x, y)| format!("<pt><x>{x}</x><y>{y}</y></pt>")).concat();
            write!(text, "<object><name>c{}</name><polygon>{points}</polygon></object>", run[0]).unwrap();
            x += run.len();
        }
    }
    text + "</annotation>"
}

/// The label map of our own layout for another one.
fn map(own: &Path, layout: Layout) -> String {
    let own: toml::Table = fs::read_to_string(own.join("classes.toml")).unwrap().parse().unwrap();
    let classes = own["classes"].as_array().unwrap();
    let label =
        |id: u8| if layout == Layout::Sun2012 { format!("c{id}") } else { number(layout, id).to_string() };
    let masks = matches!(layout, Layout::Smiyc | Layout::Fishyscapes);
    let mut map = toml::Table::new();
    map.insert("classes".into(), own["classes"].clone());
    map.insert("unknown".into(), vec![label(254)].into());
    map.insert("ignore".into(), vec![label(255)].into());
    map.insert("otherwise".into(), "error".into());
    if masks {
        map.insert("known_any".into(), vec!["0".to_string()].into());
    } else {
        let known = classes.iter().enumerate();
        let known = known.map(|(id, name)| (name.as_str().unwrap().into(), vec![label(id as u8)].into()));
        map.insert("known".into(), toml::Value::Table(known.collect()));
    }
    map.to_string()
}

/// Writes scenes in a layout; the folder, and what options it needs.
fn drawn(data: &Data, from: &str, layout: Layout) -> (PathBuf, Vec<(&'static str, Value)>) {
    let root = data.at(&format!("{from}-{}", layout.name()));
    for Scene { name, rgb, ids } in scenes(&data.at(from)) {
        let [image, labels] = places(layout, &name);
        write(&root.join(image), &colours(SIZE[0], SIZE[1], &rgb).unwrap());
        let numbers: Vec<u8> = ids.iter().map(|&id| number(layout, id)).collect();
        let bytes = match layout {
            Layout::Sun2012 => xml(&ids).into_bytes(),
            _ => grey(SIZE[0], SIZE[1], &numbers).unwrap(),
        };
        if layout != Layout::Images {
            write(&root.join(labels), &bytes);
        }
    }
    if layout.has_own_meaning() {
        fs::create_dir_all(root.join("normal")).unwrap();
        return (root, vec![]);
    }
    let file = root.join("map.toml");
    write(&file, map(&data.at(from), layout).as_bytes());
    let mut options = vec![("map", json!([file]))];
    if layout.has_splits() {
        options.push(("split", json!(["val"])));
    }
    (root, options)
}

fn evaluation(data: &Data, out: &str, options: Value) -> anyhow::Result<Evaluation> {
    let mut request = json!({ "model": data.network().model, "replicates": 100, "methods": ["entropy"], "out": data.at(out) });
    request.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    Ok(evaluate::run(&asked(request), &data.context)?.evaluations.remove(0))
}

const LABELLED: usize = Layout::VARIANTS.len() - 1;

#[test]
fn the_same_scenes_give_the_same_numbers_in_every_layout() {
    let data = Data::new();
    let plain = evaluation(&data, "plain", json!({ "data": [data.at("test")] })).unwrap();
    for &layout in &Layout::VARIANTS[..LABELLED] {
        let (root, options) = drawn(&data, "test", layout);
        assert_eq!(ImageFolder::from(root.clone()).layout().unwrap(), layout, "it is found");
        let mut request = json!({ "data": [root] });
        request.as_object_mut().unwrap().extend(options.into_iter().map(|(key, value)| (key.into(), value)));
        let found = evaluation(&data, layout.name(), request).unwrap();
        let judged = |e: &Evaluation| (e.images, e.unknown_pixels, e.methods[0].modes.clone());
        // Masks know nothing of borders that are not judged.
        if layout != Layout::Anomalib {
            assert_eq!(judged(&found), judged(&plain), "{layout:?}");
        }
        assert_eq!((found.layouts, found.left_out.len()), (vec![layout], 0));
    }
}

#[test]
fn each_role_has_its_own_layout_split_and_label_map() {
    let data = Data::new();
    let plain = json!({ "data": [data.at("test"), data.at("test")], "pooled": true, "nominal": data.at("train"),
        "methods": ["mahalanobis", "standardised-max-logit"] });
    let plain = evaluation(&data, "plain", plain).unwrap();
    let roles = [Layout::Cityscapes, Layout::Sun2012].map(|layout| drawn(&data, "test", layout));
    let (nominal, of_nominal) = drawn(&data, "train", Layout::Idd);
    let maps: Vec<&Value> = roles.iter().map(|(_, options)| &options[0].1[0]).collect();
    let mixed = json!({ "data": [roles[0].0, roles[1].0], "map": maps, "split": ["val"], "pooled": true,
        "nominal": nominal, "nominal_map": of_nominal[0].1[0], "methods": ["mahalanobis", "standardised-max-logit"] });
    let found = evaluation(&data, "mixed", mixed.clone()).unwrap();
    assert_eq!(found.layouts, [Layout::Cityscapes, Layout::Sun2012]);
    let modes = |e: &Evaluation| e.methods.iter().map(|m| m.modes.clone()).collect::<Vec<_>>();
    assert_eq!(modes(&found), modes(&plain));
    let refused = |key: &str, value: Value| {
        let mut request = mixed.clone();
        request[key] = value;
        format!("{:#}", evaluation(&data, "refused", request).unwrap_err())
    };
    let unnamed = refused("nominal_map", Value::Null);
    assert!(unnamed.contains("expected --nominal-map, because there are several --map"), "{unnamed}");
    let three = refused("map", json!([maps[0], maps[0], maps[0]]));
    assert!(
        three.contains("--map: expected one, or one for each data set that can have it (2), found 3"),
        "{three}"
    );
    let two = refused("split", json!(["val", "test"]));
    assert!(
        two.contains("--split: expected one, or one for each data set that can have it (1), found 2"),
        "{two}"
    );
}

#[test]
fn images_without_labels_are_scored_and_not_judged() {
    let data = Data::new();
    let (root, _) = drawn(&data, "test", Layout::Images);
    fs::remove_dir(root.join("normal")).unwrap();
    write(&root.join("notes.txt"), b"no image");
    write(&root.join("broken.png"), b"\x89PNG\r\n\x1a\n, and no more");
    let error = format!("{:#}", evaluation(&data, "judged", json!({ "data": [root] })).unwrap_err());
    assert!(error.contains("expected images with labels, found none that has any"), "{error}");
    let request = json!({ "data": root, "nominal": data.at("train"), "model": data.network().model, "fpr": 0.05,
        "methods": ["mahalanobis", "entropy"], "out": data.at("scores"), "format": "hdf5" });
    let found = score::run(&asked(request), &data.context).unwrap();
    assert_eq!((found.images, found.layout, found.left_out.len()), (6, Layout::Images, 2));
    assert!(found.left_out[0].starts_with("notes.txt: no PNG") && found.left_out[1].starts_with("broken: "));
    for method in &found.methods {
        let threshold = method.threshold.as_ref().unwrap();
        assert_eq!(
            (threshold.fpr, threshold.images),
            (Some(0.05), 1),
            "the sixth is held out, and the fifth"
        );
        let n: usize = method.images.iter().map(|image| image.components.len()).sum();
        assert!(n > 0, "{}", method.method);
        let file = |ending: &str| data.at(&format!("scores/{}/00003.{ending}", method.method));
        let map = array::read(&file("hdf5"), "value").unwrap();
        assert_eq!(map.shape, [SIZE[1], SIZE[0]]);
        let above = map.values.iter().filter(|&&s| f64::from(s) > threshold.value).count();
        let pixels: usize = method.images[3].components.iter().map(|c| c.pixels).sum();
        assert_eq!(above, pixels, "each pixel above the threshold is in a component of so small an image");
        assert!(image_file::read(&file("png")).is_ok());
    }
    let page = fs::read_to_string(data.at("scores/scores.html")).unwrap();
    assert!(page.matches("<figure>").count() == 12 && page.contains("broken"));
}

#[test]
fn a_folder_whose_labels_are_missing_is_not_read_as_images_of_one_kind() {
    let data = Data::new();
    let (root, _) = drawn(&data, "test", Layout::Offnominal);
    fs::remove_dir_all(root.join("labels")).unwrap();
    let layout = |folder: &Path| ImageFolder::from(folder).layout().map_err(|error| error.to_string());
    assert_eq!(layout(&root), Ok(Layout::Images), "nothing beside the images");
    fs::create_dir(root.join("depth")).unwrap();
    fs::copy(root.join("images/00000.png"), root.join("depth/00000.png")).unwrap();
    let error = layout(&root).unwrap_err();
    assert!(error.contains("found images in images and in depth, and no labels: write images:"), "{error}");
    assert_eq!(layout(&root.join("images")), Ok(Layout::Images));
}

#[test]
fn labels_that_are_missing_for_some_images_leave_these_out_by_name() {
    let data = Data::new();
    let (root, _) = drawn(&data, "test", Layout::Smiyc);
    fs::remove_file(root.join("labels_masks/00002_labels_semantic.png")).unwrap();
    let options = json!({ "data": [root], "map": [root.join("map.toml")] });
    let found = evaluation(&data, "some", options).unwrap();
    assert_eq!((found.images, &found.left_out[..]), (5, &["00002: no labels".to_string()][..]));
}

#[test]
fn nominal_images_without_labels_are_known_and_of_the_predicted_class() {
    let data = Data::new();
    let (root, _) = drawn(&data, "train", Layout::Images);
    let labelled =
        json!({ "data": [data.at("test")], "nominal": data.at("train"), "methods": ["mahalanobis"] });
    let unlabelled = json!({ "data": [data.at("test")], "nominal": root, "methods": ["mahalanobis"] });
    let auroc = |out: &str, options| {
        let found = evaluation(&data, out, options).unwrap();
        found.methods[0].main().unwrap().auroc.value
    };
    let (with, without) = (auroc("with", labelled), auroc("without", unlabelled));
    assert!(with != without && (with - without).abs() < 0.2, "{with} {without}");
}

#[test]
fn a_folder_of_two_layouts_is_refused_until_one_is_named() {
    let data = Data::new();
    let (root, _) = drawn(&data, "test", Layout::Smiyc);
    write(&root.join("labels/00000.png"), &grey(SIZE[0], SIZE[1], &[0; 64 * 32]).unwrap());
    let error = format!("{:#}", ImageFolder::from(root.clone()).layout().unwrap_err());
    assert!(error.contains("found those of offnominal and of smiyc: write offnominal:"), "{error}");
    let named: ImageFolder = format!("smiyc:{}", root.display()).parse().unwrap();
    assert_eq!((named.layout().unwrap(), named.path), (Layout::Smiyc, root));
    let empty = data.at("empty");
    fs::create_dir(&empty).unwrap();
    let error = format!("{:#}", ImageFolder::from(empty).layout().unwrap_err());
    assert!(error.contains("or images, found neither"), "{error}");
}

//! Every layout, labels of every kind, and what is refused.

use super::*;

/// A folder with one image of 6 × 4 pixels in a layout; labels are the bytes given.
fn folder(image: &str, label: &str, label_bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in
        [(image, image_file::colours(6, 4, &[9; 72]).unwrap()), (label, label_bytes.to_vec())]
    {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

fn open(folder: &tempfile::TempDir, layout: Layout, map: &str) -> Result<DataSet> {
    let path = folder.path().join("map.toml");
    std::fs::write(&path, map).unwrap();
    DataSet::open(&named(folder, layout), None, Some(&path))
}

fn named(folder: &tempfile::TempDir, layout: Layout) -> ImageFolder {
    format!("{}:{}", layout.name(), folder.path().display()).parse().unwrap()
}

const IDS: &str = "classes = ['road', 'car']\nunknown = ['2']\nignore = ['255']\notherwise = 'error'\n[known]\nroad = ['0']\ncar = ['1']";

#[test]
fn sun_has_polygons_with_names() {
    let folder = folder("Images/s/a.png", "Annotations/s/a.xml", polygons::tests::XML.as_bytes());
    let set = open(&folder, Layout::Sun2012, "classes = ['road']\notherwise = 'unknown'").unwrap();
    let labels = set.labels(&set.samples[0]).unwrap();
    assert_eq!((set.samples[0].name.as_str(), &labels.ids[12..15]), ("s/a", &[0, 254, 254][..]));
    assert!(set.rgb(&set.samples[0], &labels).is_ok());
}

#[test]
fn a_palette_is_read_by_its_colours_where_labels_are_colours() {
    let pixels: Vec<u8> = (0..24).flat_map(|i| if i < 8 { [255, 0, 0] } else { [255, 255, 255] }).collect();
    let palette = image_file::small_colours(6, 4, &pixels).unwrap();
    let ids = |folder: &tempfile::TempDir, layout, map: &str| {
        let set = open(folder, layout, map).unwrap();
        set.labels(&set.samples[0]).unwrap().ids
    };
    let own = folder("images/a.png", "labels/a.png", &palette);
    let by_colour =
        "classes = ['road']\nunknown = ['#ff0000']\notherwise = 'error'\n[known]\nroad = ['#ffffff']";
    assert_eq!(
        ids(&own, Layout::Offnominal, by_colour),
        [vec![offnominal_scenes::UNKNOWN; 8], vec![0; 16]].concat()
    );
    assert_eq!(ids(&own, Layout::Offnominal, IDS), [vec![0; 8], vec![1; 16]].concat(), "numbers are indices");
    // The first colour of a palette need not be black, and a mask is 0 where it is black.
    let masks = folder("abnormal/a.png", "mask/a.png", &palette);
    std::fs::create_dir(masks.path().join("normal")).unwrap();
    let set = DataSet::open(&named(&masks, Layout::Anomalib), None, None).unwrap();
    assert_eq!(set.labels(&set.samples[0]).unwrap().ids, [offnominal_scenes::UNKNOWN; 24]);
}

#[test]
fn labels_may_be_colours_and_foreign_ones_are_listed() {
    let rgb: Vec<u8> = [[128, 64, 128], [0, 0, 142]].concat().repeat(12);
    let folder = folder("images/a.png", "labels/a.png", &image_file::colours(6, 4, &rgb).unwrap());
    let map = "classes = ['road']\notherwise = 'error'\n[known]\nroad = ['#804080']";
    let set = open(&folder, Layout::Offnominal, map).unwrap();
    let error = format!("{:#}", set.labels(&set.samples[0]).unwrap_err());
    assert!(error.ends_with("labels that the label map does not have: #00008e"), "{error}");
}

#[test]
fn bad_folders_are_explained() {
    let refuse =
        |folder: &tempfile::TempDir| format!("{:#}", open(folder, Layout::Offnominal, IDS).unwrap_err());
    let empty = tempfile::tempdir().unwrap();
    assert!(refuse(&empty).contains("cannot read the folder"));
    std::fs::create_dir(empty.path().join("labels")).unwrap();
    assert!(refuse(&empty).contains("expected label files ending in .png, found none"));
    let small = folder("images/a.png", "labels/a.png", &image_file::grey(3, 4, &[0; 12]).unwrap());
    let set = open(&small, Layout::Offnominal, IDS).unwrap();
    let labels = set.labels(&set.samples[0]).unwrap();
    let error = format!("{:#}", set.rgb(&set.samples[0], &labels).unwrap_err());
    assert!(error.contains("expected 3 × 4 pixels as") && error.ends_with("found 6 × 4"), "{error}");
    let error = format!("{:#}", DataSet::open(&named(&small, Layout::Idd), None, None).unwrap_err());
    assert!(error.contains("--map"), "{error}");
}

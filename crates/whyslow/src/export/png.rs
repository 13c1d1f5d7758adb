//! SVG to PNG, with the fonts that the program brings: a server has none.

use anyhow::{Context, anyhow};
use flate2::read::GzDecoder;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::io::Read;

/// The font of texts, and one for arrows and signs that it lacks (`build.rs`).
const FONTS: [&[u8]; 2] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/sans.ttf.gz")),
    include_bytes!(concat!(env!("OUT_DIR"), "/signs.ttf.gz")),
];

/// Draws an SVG of the renderer.
///
/// # Errors
/// If there is not enough memory for this many pixels.
pub(super) fn render(svg: &str, (width, height): (u32, u32)) -> anyhow::Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    for packed in FONTS {
        let mut font = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut font).context("a font")?;
        fonts.load_font_data(font);
    }
    fonts.set_sans_serif_family("Ubuntu");
    let tree = Tree::from_str(svg, &options).context("the picture")?;
    let mut pixels =
        Pixmap::new(width, height).ok_or_else(|| anyhow!("a picture of {width} × {height} pixels is too large"))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    pixels.encode_png().context("the picture")
}

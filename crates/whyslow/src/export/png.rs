//! SVG to PNG, with the fonts that the program brings: a server has none.

use anyhow::{Context, anyhow};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Draws an SVG of the renderer.
///
/// # Errors
/// When there is no memory for so many pixels.
pub(super) fn render(svg: &str, (width, height): (u32, u32)) -> anyhow::Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    // For arrows and signs that the first one lacks.
    fonts.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    fonts.set_sans_serif_family("Ubuntu");
    let tree = Tree::from_str(svg, &options).context("the picture")?;
    let mut pixels =
        Pixmap::new(width, height).ok_or_else(|| anyhow!("a picture of {width} × {height} pixels is too large"))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    pixels.encode_png().context("the picture")
}

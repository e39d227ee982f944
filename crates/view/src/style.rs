//! What the reader's terminal can show: colour and characters beyond ASCII. Decides nothing by itself; the caller
//! knows the terminal, the environment and the flags.

/// What the output may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours.
    pub color: bool,
    /// Characters beyond ASCII.
    pub unicode: bool,
}

/// The few ways in which text stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Paint {
    #[default]
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Red => "\x1b[31m",
            Self::Green => "\x1b[32m",
            Self::Yellow => "\x1b[33m",
            Self::Cyan => "\x1b[36m",
        }
    }
}

impl Style {
    /// The text in a colour, if there are colours.
    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        if !self.color || paint == Paint::Plain || text.is_empty() {
            return text.to_owned();
        }
        format!("{}{text}\x1b[0m", paint.code())
    }

    /// The first form if the terminal can show it, the plain one otherwise.
    pub(crate) fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// The mark of something that held.
    pub fn passed(self) -> &'static str {
        self.pick("✓", "ok")
    }

    /// The mark of something that did not hold.
    pub fn failed(self) -> &'static str {
        self.pick("✗", "x")
    }
}

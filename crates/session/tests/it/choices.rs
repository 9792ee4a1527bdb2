//! Choices of random tests, drawn from one number.

/// Draws choices from a number.
///
/// One number a step, instead of a strategy for each of its parts: that is what the time would go into.
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let choice = self.0 % bound;
        self.0 /= bound;
        choice
    }

    pub(crate) fn of<T: Copy, const N: usize>(&mut self, options: [T; N]) -> T {
        let choice = self.below(N as u64);
        options[usize::try_from(choice).expect("an index of the options")]
    }

    pub(crate) fn small(&mut self, bound: u8) -> u8 {
        u8::try_from(self.below(bound.into())).expect("less than the bound")
    }
}

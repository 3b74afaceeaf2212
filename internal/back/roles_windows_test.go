package back

// play does nothing: the tests with children are for Unix.
func play() {}

package form

// liftedForm is what a lifted schema says that a definition cannot.
type liftedForm struct {
	annotations []Member // members of the schema itself that say nothing of what is valid
}

// annotations returns them, in their order; none for a form that was not lifted.
func (d *Definition) annotations() []Member {
	if d.lifted == nil {
		return nil
	}
	return d.lifted.annotations
}

// liftedField is what a lifted schema says of a field that a field cannot.
type liftedField struct {
	repeats bool                // of multi_select: an option may be chosen more than once
	items   []Member            // of multi_select: annotations of the items
	options map[string][]Member // by value: annotations of an option
}

// repeats reports whether an option of a multi_select may be chosen more than once.
// Only a schema without uniqueItems allows that.
func (f *Field) repeats() bool { return f.lifted != nil && f.lifted.repeats }

//go:build unix && !linux

package back

// belt does nothing: only Linux tells a child that its parent died.
func (p *process) belt() {}

package wire

import "testing"

func TestMayAsk(t *testing.T) {
	for method, want := range map[string]bool{
		"tools/call": true, "prompts/get": true, "resources/read": true,
		"tools/list": false, "completion/complete": false, "tasks/result": false, "Tools/call": false, "": false,
	} {
		if got := MayAsk(method); got != want {
			t.Errorf("MayAsk(%q) = %v", method, got)
		}
	}
}

func TestSeverity(t *testing.T) {
	for level, want := range map[string]int{
		"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
		"": -1, "warn": -1, "Error": -1,
	} {
		if got := Severity(level); got != want {
			t.Errorf("Severity(%q) = %d, want %d", level, got, want)
		}
	}
}

package config

import "strings"

// nearest gives the known word that was most likely meant by word, or "".
// Words that differ in case, hyphens and underscores alone are the same;
// otherwise one slip is allowed for every three letters.
func nearest(word string, known []string) string {
	best, least := "", len(word)/3+1
	for _, k := range known {
		if plainWord(k) == plainWord(word) {
			return k
		}
		if d := slips(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// plainWord is word without case, hyphens and underscores: callTimeout,
// call-timeout and call_timeout are one.
func plainWord(word string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(word))
}

// slips counts the letters inserted, left out, replaced, and the neighbours
// exchanged between a and b (optimal string alignment).
func slips(a, b string) int {
	var before, prev []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, prev, row = prev, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

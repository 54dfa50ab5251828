package journal

// NormalURL is normalURL.
var NormalURL = normalURL

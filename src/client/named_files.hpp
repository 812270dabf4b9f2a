// The small files that options name (the key's, the certificate authorities'), and keys that are
// given in the place of a name.
#pragma once

#include <fstream>
#include <string>

namespace muster::client {

// Whether `word` contains a key of any kind, and is not the name of a file. An error must not quote
// such a word.
[[nodiscard]] bool exposes_key(const std::string& word);

// Throws UsageError with `what` ("the key file members.key") and the reason if the file cannot be
// read or is a folder.
[[nodiscard]] std::ifstream open_file(const std::string& what, const std::string& path);

// The first line of a file. Throws UsageError as open_file() does, and for an empty file.
[[nodiscard]] std::string first_line(const std::string& what, const std::string& path);

// Throws UsageError if reading the file has failed, which otherwise looks like its end.
void require_whole(const std::ifstream& file, const std::string& what);

// Throws UsageError as open_file() does, and for a file without a certificate.
void require_certificates(const std::string& what, const std::string& path);

}  // namespace muster::client

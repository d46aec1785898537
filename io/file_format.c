/* file_format.c: the known formats and their first bytes. */
#include "file_format.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char save[] = "save the table as .csv or .npy", unpack[] = "decompress it first";

/* The first bytes of a format. Where they are all letters (text_like), a text might begin with them, too: a byte that
 * is not text must follow. */
typedef struct known_format {
    const char *name;
    int at, length;
    const char *magic;
    bool text_like;
    const char *advice;
} known_format;

static const known_format known[] = {
    {"a bzip2 file", 4, 6, "1AY&SY", false, unpack},
    {"an xz file", 0, 5, "\3757zXZ", false, unpack},
    {"a zstd file", 0, 4, "\x28\xb5\x2f\xfd", false, unpack},
    {"an lz4 file", 0, 4, "\x04\x22\x4d\x18", false, unpack},
    {"a compressed file (.Z)", 0, 2, "\x1f\x9d", false, unpack},
    {"a 7z archive", 0, 6, "7z\xbc\xaf\x27\x1c", false, unpack},
    {"a rar archive", 0, 6, "Rar!\x1a\x07", false, unpack},
    {"a Parquet file", 0, 4, "PAR1", true, save},
    {"an Arrow or Feather file", 0, 6, "ARROW1", true, save},
    {"a Feather file", 0, 4, "FEA1", true, save},
    {"an ORC file", 0, 3, "ORC", true, save},
    {"an Avro file", 0, 4, "Obj\1", false, save},
    {"an HDF5 file", 0, 8, "\x89HDF\r\n\x1a\n", false, save},
    {"a MATLAB file (HDF5)", 0, 19, "MATLAB 7.3 MAT-file", false, save},
    {"a MATLAB file", 0, 19, "MATLAB 5.0 MAT-file", false, save},
    {"a netCDF file", 0, 4, "CDF\1", false, save},
    {"a netCDF file", 0, 4, "CDF\2", false, save},
    {"a netCDF file", 0, 4, "CDF\5", false, save},
    {"an Excel workbook (.xls)", 0, 8, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", false, save},
    {"an SPSS file", 0, 8, "$FL2@(#)", false, save},
    {"an SPSS file", 0, 8, "$FL3@(#)", false, save},
    {"a Stata file", 0, 11, "<stata_dta>", false, save},
    {"a Stata file", 0, 3, "\x71\2\1", false, save},
    {"a Stata file", 0, 3, "\x72\2\1", false, save},
    {"a Stata file", 0, 3, "\x73\2\1", false, save},
    {"a SAS file", 0, 16, "\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60", false, save},
    {"an R data file", 0, 7, "RDX2\nX\n", false, save},
    {"an R data file", 0, 7, "RDX3\nX\n", false, save},
    {"an R data file", 0, 5, "X\n\0\0\0", false, save},
    {"an SQLite database", 0, 16, "SQLite format 3", false, save},
    {"a PDF", 0, 5, "%PDF-", false, save},
    {"a picture (PNG)", 0, 4, "\x89PNG", false, save},
    {"a picture (JPEG)", 0, 3, "\xff\xd8\xff", false, save},
    {"a web page (HTML)", 0, 14, "<!DOCTYPE html", false, save},
    {"a web page (HTML)", 0, 5, "<html", false, save},
    {"a web page (HTML)", 0, 6, "<table", false, save},
    {"an XML file", 0, 5, "<?xml", false, save},
    {"a JSON file", 0, 2, "{\"", false, save},
    {"a JSON file", 0, 3, "[{\"", false, save},
    {"a tar archive", 257, 6, "ustar\0", false, unpack},
    {"a tar archive", 257, 8, "ustar  \0", false, unpack},
    {"a safetensors file", 6, 3, "\0\0{", false, save},
    {"a pickle of Python", 0, 2, "\x80\2", false, save},
    {"a pickle of Python", 0, 2, "\x80\3", false, save},
    {"a pickle of Python", 0, 2, "\x80\4", false, save},
    {"a pickle of Python", 0, 2, "\x80\5", false, save},
};

/* Other formats that are zip archives, by the name of their first member. */
static const struct {
    const char *name, *member;
} zipped[] = {{"an Excel workbook (.xlsx)", "[Content_Types].xml"}, {"an Excel workbook (.xlsx)", "_rels/"},
              {"an Excel workbook (.xlsx)", "docProps/"},           {"an Excel workbook (.xlsx)", "xl/"},
              {"an OpenDocument file (.ods)", "mimetype"},          {"a PyTorch file", "archive/"}};

static bool is_text(unsigned char byte) {
    return byte >= ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static bool fits(const known_format *format, const unsigned char *head, int64_t size) {
    const int end = format->at + format->length;
    if (size < end) return false;
    const char *there = (const char *)head + format->at;
    if (format->magic[0] == '<') return strncasecmp(there, format->magic, (size_t)format->length) == 0;
    if (memcmp(there, format->magic, (size_t)format->length) != 0) return false;
    return !format->text_like || (size > end && !is_text(head[end]));
}

static const char *zipped_name(const unsigned char *head, int64_t size) {
    enum { LENGTH_AT = 26, NAME_AT = 30 };
    if (size < NAME_AT) return NULL;
    const size_t length = (size_t)(head[LENGTH_AT] | head[LENGTH_AT + 1] << 8);
    for (size_t i = 0; i < sizeof zipped / sizeof zipped[0]; i++) {
        const size_t needed = strlen(zipped[i].member);
        if (length >= needed && NAME_AT + (int64_t)needed <= size &&
            memcmp(head + NAME_AT, zipped[i].member, needed) == 0)
            return zipped[i].name;
    }
    return NULL;
}

ts_file_format ts_file_format_of(const unsigned char *head, int64_t size, const char **name, const char **advice) {
    *advice = save;
    if (size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0) return TS_FILE_NPY;
    if (size >= 2 && memcmp(head, "\x1f\x8b", 2) == 0) return TS_FILE_GZIP;
    if (size >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0)) {
        *name = zipped_name(head, size);
        return *name == NULL ? TS_FILE_ZIP : TS_FILE_UNREAD;
    }
    *name = NULL;
    if (size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) return ts_file_format_of(head + 3, size - 3, name, advice);
    for (size_t i = 0; *name == NULL && i < sizeof known / sizeof known[0]; i++) {
        if (!fits(&known[i], head, size)) continue;
        *name = known[i].name;
        *advice = known[i].advice;
    }
    return *name == NULL ? TS_FILE_TEXT : TS_FILE_UNREAD;
}

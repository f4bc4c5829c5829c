extension Unicode.Scalar {
    /// Whether the scalar is invisible, moves the cursor or changes the text direction. Such characters are escaped
    /// when device data is displayed. Variation selectors are not, because emoji use them.
    package var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        // The Braille pattern without dots looks like a space.
        default: properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector || value == 0x2800
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is shown as nothing, moves a cursor or turns text around: what a device sends is shown with such characters
    /// escaped. Variation selectors stay, which pictures have.
    package var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        // A Braille pattern without a dot is a space of another name.
        default: properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector || value == 0x2800
        }
    }
}

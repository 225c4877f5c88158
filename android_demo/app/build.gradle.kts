plugins {
    alias(libs.plugins.android.application)
}

android {
    namespace = "dev.pteron.demo"
    compileSdk = libs.versions.compileSdk.get().toInt()
    defaultConfig {
        applicationId = "dev.pteron.demo"
        minSdk = libs.versions.minSdk.get().toInt()
        targetSdk = libs.versions.targetSdk.get().toInt()
        versionCode = 1
        versionName = "0.1.0"
    }
    buildTypes {
        release {
            isMinifyEnabled = true
            proguardFiles(getDefaultProguardFile("proguard-android-optimize.txt"))
        }
    }
    // Programs are mapped in the package's own file.
    androidResources { noCompress += listOf("pte", "f32") }
    packaging { jniLibs { useLegacyPackaging = false } }
    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_11
        targetCompatibility = JavaVersion.VERSION_11
    }
}

dependencies {
    implementation(project(":pteron"))
}

// Assets come from `make android-models`, on the desk.
val assets = layout.projectDirectory.file("src/main/assets/desk.txt").asFile
tasks.named("preBuild") {
    doFirst {
        check(assets.exists()) { "no programs in app/src/main/assets: run `make android-models` in Pteron's folder" }
    }
}
